//! Messages of JSON-RPC 2.0, as the Model Context Protocol narrows them: one object, no batches, parameters by name, ids
//! that are strings or integers.

use gtrace_api::text::clean;
use serde_json::{Map, Value, json};

/// Not JSON.
pub(crate) const PARSE_ERROR: i32 = -32_700;
/// JSON, but no message.
pub(crate) const INVALID_REQUEST: i32 = -32_600;
/// No such method.
pub(crate) const METHOD_NOT_FOUND: i32 = -32_601;
/// Parameters that the method does not take, or of another type.
pub(crate) const INVALID_PARAMS: i32 = -32_602;
/// A revision of the protocol that this server does not speak.
pub(crate) const UNSUPPORTED_VERSION: i32 = -32_022;

/// Longest part of a request that an error repeats, characters.
const QUOTED_MAX: usize = 80;

/// What a client sent.
#[derive(Debug)]
pub(crate) enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none: a notification, or an answer to a question that this server never asks.
    Silent,
}

#[derive(Debug)]
pub(crate) struct Request {
    /// A string or an integer.
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// Why a request is not served.
#[derive(Debug)]
pub(crate) struct Problem {
    /// That of the request, where it could be read.
    pub(crate) id: Option<Value>,
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl Problem {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            id: None,
            code,
            message: message.into(),
            data: None,
        }
    }

    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    /// The answer. Without a known id it has none, as the protocol has no null.
    pub(crate) fn answer(self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(data), Some(error)) = (self.data, error.as_object_mut()) {
            error.insert("data".to_owned(), data);
        }
        match self.id {
            Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
            None => json!({ "jsonrpc": "2.0", "error": error }),
        }
    }
}

/// Part of a request, for an error.
pub(crate) fn quoted(text: &str) -> String {
    let text = clean(text);
    match text.char_indices().nth(QUOTED_MAX) {
        Some((end, _)) => format!("`{}...`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// Reads one message.
pub(crate) fn read(line: &[u8]) -> Result<Message, Problem> {
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| Problem::new(PARSE_ERROR, format!("the line is no JSON: {error}")))?;
    let invalid = |why: &str| Err(Problem::new(INVALID_REQUEST, why));
    let mut object = match value {
        Value::Object(object) => object,
        Value::Array(_) => return invalid("the protocol has no batches: send one object a line"),
        _ => return invalid("a message is a JSON object on one line"),
    };
    let id = match object.remove("id") {
        None => None,
        Some(id @ Value::String(_)) => Some(id),
        Some(Value::Number(number)) if number.is_i64() || number.is_u64() => {
            Some(Value::Number(number))
        }
        Some(_) => return invalid("the id of a request is a string or an integer"),
    };
    request(object, id.clone()).map_err(|problem| Problem { id, ..problem })
}

fn request(mut object: Map<String, Value>, id: Option<Value>) -> Result<Message, Problem> {
    let invalid = |why: &str| Err(Problem::new(INVALID_REQUEST, why));
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("`jsonrpc` has to be \"2.0\"");
    }
    let method = match object.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => return invalid("`method` has to be a string"),
        None if object.contains_key("result") || object.contains_key("error") => {
            return Ok(Message::Silent);
        }
        None => return invalid("the message has no `method`"),
    };
    let Some(id) = id else {
        return Ok(Message::Silent);
    };
    let params = match object.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(Problem::params("`params` has to be an object")),
    };
    Ok(Message::Request(Request { id, method, params }))
}

//! `cargo xtask dashboards`: the dashboards for Grafana, of what is particular to each of their panels.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

/// File and description of each dashboard: its panels, from left to right and from top to bottom.
const DASHBOARDS: [(&str, &str); 3] = [
    ("debug.json", include_str!("dashboards/debug.json")),
    ("executive.json", include_str!("dashboards/executive.json")),
    ("on-call.json", include_str!("dashboards/on-call.json")),
];

/// Columns of a dashboard.
const COLUMNS: u64 = 24;

/// Writes the dashboards to `folder`.
pub(crate) fn write(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (name, description) in DASHBOARDS {
        let description = serde_json::from_str(description).context(name)?;
        let text = serde_json::to_string_pretty(&dashboard(&description).context(name)?)?;
        let file = folder.join(name);
        fs::write(&file, text + "\n")
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// Where panels and variables read: what a person chooses.
fn source() -> Value {
    json!({ "type": "prometheus", "uid": "${datasource}" })
}

fn dashboard(described: &Value) -> Result<Value> {
    let mut variables = vec![
        json!({ "name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source" }),
        variable(
            "instance",
            "Host",
            "label_values(gtrace_build_info, instance)",
        ),
    ];
    if described["by_gpu"] == true {
        let query = "label_values(gtrace_gpu_present{instance=~\"$instance\"}, gpu)";
        variables.push(variable("gpu", "GPU", query));
    }
    let (mut x, mut y, mut below) = (0, 0, 0);
    let mut panels = Vec::new();
    for described in described["panels"].as_array().context("no panels")? {
        let (mut panel, width, height) = panel(described)?;
        if x + width > COLUMNS {
            (x, y) = (0, below);
        }
        panel["id"] = json!(panels.len() + 1);
        panel["gridPos"] = json!({ "x": x, "y": y, "w": width, "h": height });
        panels.push(panel);
        x += width;
        below = below.max(y + height);
    }
    Ok(json!({
        "uid": described["uid"],
        "title": described["title"],
        "description": described["description"],
        "tags": ["gtrace", "gpu"],
        "schemaVersion": 39,
        "version": 1,
        "editable": true,
        "refresh": "30s",
        "time": { "from": "now-6h", "to": "now" },
        "timezone": "browser",
        "graphTooltip": 1,
        "links": [{ "type": "dashboards", "tags": ["gtrace"], "asDropdown": true, "title": "gtrace" }],
        "annotations": { "list": [{
            "name": "pages",
            "datasource": source(),
            "enable": true,
            "iconColor": "red",
            "expr": "ALERTS{alertstate=\"firing\",severity=\"page\",instance=~\"$instance\"}",
            "titleFormat": "{{alertname}}",
            "step": "60s",
        }] },
        "templating": { "list": variables },
        "panels": panels,
    }))
}

/// What is chosen at the top of a dashboard: one, several or all.
fn variable(name: &str, label: &str, query: &str) -> Value {
    json!({
        "name": name,
        "type": "query",
        "label": label,
        "datasource": source(),
        "query": { "query": query, "refId": "v" },
        "refresh": 2,
        "multi": true,
        "includeAll": true,
        "allValue": ".*",
        "current": { "text": "All", "value": "$__all" },
    })
}

/// A panel without its place, and how many columns and rows it takes.
fn panel(described: &Value) -> Result<(Value, u64, u64)> {
    let kind = described["type"]
        .as_str()
        .context("a panel without a type")?;
    let text =
        |key: &str, default: &'static str| described[key].as_str().unwrap_or(default).to_owned();
    let unit = text("unit", "short");
    // What each query has beside its expression, the panel's fields and its options.
    let (width, height, query, fields, options) = match kind {
        "stat" => {
            let steps = match &described["red_from"] {
                Value::Null => json!([{ "color": "text", "value": null }]),
                least => {
                    json!([{ "color": "green", "value": null }, { "color": "red", "value": least }])
                }
            };
            let thresholds = json!({ "mode": "absolute", "steps": steps });
            let reduce = json!({ "calcs": ["lastNotNull"] });
            (
                4,
                4,
                json!({ "instant": true, "range": false }),
                json!({ "unit": unit, "thresholds": thresholds, "noValue": "none" }),
                json!({ "reduceOptions": reduce, "colorMode": "value", "graphMode": "none", "textMode": "auto" }),
            )
        }
        "table" => (
            12,
            8,
            json!({ "format": "table", "instant": true, "range": false }),
            json!({ "unit": unit }),
            json!({ "showHeader": true }),
        ),
        "timeseries" => {
            let (fill, stacking) = match described["stacked"] == true {
                true => (40, "normal"),
                false => (10, "none"),
            };
            let mut fields = json!({ "unit": unit, "min": 0, "custom": {
                "drawStyle": "line", "lineWidth": 1, "fillOpacity": fill, "showPoints": "never",
                "spanNulls": false, "stacking": { "mode": stacking },
            } });
            if let Some(max) = described.get("max") {
                fields["max"] = max.clone();
            }
            let legend = json!({ "displayMode": "table", "placement": "bottom", "calcs": ["lastNotNull", "max"] });
            let tooltip = json!({ "mode": "multi", "sort": "desc" });
            let options = json!({ "legend": legend, "tooltip": tooltip });
            (
                described["width"].as_u64().unwrap_or(12),
                8,
                json!({}),
                fields,
                options,
            )
        }
        "heatmap" => {
            let color = json!({ "mode": "scheme", "scheme": "Blues", "scale": "exponential", "exponent": 0.5, "steps": 64 });
            let options = json!({
                "calculate": false, "cellGap": 1, "color": color, "yAxis": { "unit": "s" },
                "tooltip": { "show": true, "yHistogram": true },
            });
            (
                COLUMNS,
                9,
                json!({ "format": "heatmap" }),
                json!({}),
                options,
            )
        }
        "text" => {
            let options = json!({ "mode": "markdown", "content": described["content"] });
            (COLUMNS, 3, json!({}), json!({}), options)
        }
        _ => bail!("a panel of type {kind}"),
    };
    let targets = described["targets"].as_array().into_iter().flatten();
    let targets = targets.zip('A'..='Z').map(|(target, name)| {
        let mut query = query.clone();
        query["refId"] = json!(name);
        query["expr"] = target["expr"].clone();
        query["legendFormat"] = json!(target["legend"].as_str().unwrap_or_default());
        query["datasource"] = source();
        query
    });
    let mut panel = json!({
        "datasource": source(),
        "type": kind,
        "title": text("title", ""),
        "description": text("description", ""),
        "targets": targets.collect::<Vec<_>>(),
        "fieldConfig": { "defaults": fields, "overrides": [] },
        "options": options,
    });
    if kind == "table" {
        let hidden = json!({ "Time": true, "__name__": true, "job": true });
        panel["transformations"] =
            json!([{ "id": "organize", "options": { "excludeByName": hidden } }]);
    }
    Ok((panel, width, height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_read_what_is_chosen_and_none_covers_another() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        for (name, _) in DASHBOARDS {
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            let dashboard: Value = serde_json::from_str(&text).unwrap();
            let mut taken = std::collections::BTreeSet::new();
            for panel in dashboard["panels"].as_array().unwrap() {
                let place = |key: &str| panel["gridPos"][key].as_u64().unwrap();
                assert!(place("x") + place("w") <= COLUMNS, "{panel}");
                for y in place("y")..place("y") + place("h") {
                    for x in place("x")..place("x") + place("w") {
                        assert!(taken.insert((x, y)), "{panel}");
                    }
                }
                let targets = panel["targets"].as_array().unwrap();
                assert_eq!(targets.is_empty(), panel["type"] == "text", "{panel}");
                for target in targets {
                    let expression = target["expr"].as_str().unwrap();
                    assert!(expression.contains("instance=~\"$instance\""), "{target}");
                    assert_eq!(target["datasource"], source());
                }
            }
            assert!(taken.len() > 500, "{name}");
        }
    }
}

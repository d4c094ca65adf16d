//! Pictures as SVG: no script, no fonts of their own, readable on light and dark ground.

mod heat_map;
mod percentiles;

pub use heat_map::heat_map;
pub use percentiles::percentiles;

use std::fmt::Write as _;

use crate::table::label;
use crate::{Counts, Key};

/// Most rows in one picture.
pub const ROWS: usize = 8;

/// Colours that differ for most kinds of sight, on light and on dark ground (Okabe and Ito 2008, black
/// left out, with a grey).
const COLOURS: [&str; ROWS] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7a00", "#888888",
];
/// Lines also differ by their dashes.
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

/// Letters take about this much of the font's size.
const LETTER: f64 = 0.62;

/// A picture under way.
struct Picture {
    text: String,
}

impl Picture {
    /// `what` is for those who hear the picture read out. Colours stand in the rules themselves, as
    /// viewers outside of browsers know no variables; what knows no @media shows the light ones.
    fn new(width: f64, height: f64, title: &str, what: &str) -> Self {
        let mut picture = Self {
            text: String::new(),
        };
        // Writing to a String cannot fail, here and below.
        let _ = write!(
            picture.text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-labelledby=\"title what\">\n\
             <title id=\"title\">{}</title>\n<desc id=\"what\">{}</desc>\n<style>\n\
             text {{ font: 12px system-ui, sans-serif; fill: #1a1a1a; }}\n\
             .title {{ font-size: 15px; font-weight: 600; }}\n\
             .ground {{ fill: #ffffff; }}\n\
             .grid {{ stroke: #d0d0d0; stroke-width: 1; }}\n\
             .axis {{ stroke: #1a1a1a; stroke-width: 1; fill: none; }}\n\
             .line {{ fill: none; stroke-width: 1.8; stroke-linejoin: round; }}\n\
             .heat {{ fill: #b2182b; }}\n\
             @media (prefers-color-scheme: dark) {{\n\
             text {{ fill: #e8e8e8; }} .ground {{ fill: #16181c; }} .grid {{ stroke: #3c4048; }}\n\
             .axis {{ stroke: #e8e8e8; }} .heat {{ fill: #ff8a5c; }}\n\
             }}\n\
             </style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n",
            escaped(title),
            escaped(what),
        );
        picture.label(16.0, 24.0, "start", "title", title);
        picture
    }

    fn label(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        let class = match class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        let text = escaped(text);
        let _ = writeln!(
            self.text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{class}>{text}</text>"
        );
    }

    /// A label that is read from below.
    fn upright(&mut self, x: f64, y: f64, text: &str) {
        let _ = writeln!(
            self.text,
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(text)
        );
    }

    fn line(&mut self, class: &str, from: [f64; 2], to: [f64; 2]) {
        let ([x1, y1], [x2, y2]) = (from, to);
        let _ = writeln!(
            self.text,
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        );
    }

    fn done(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// Text as content or attribute. What XML has no place for is replaced.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in crate::text::clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// What a row is called.
fn title(key: &Key, counts: &Counts) -> String {
    format!(
        "{} {}, {} {}: {} calls",
        key.layer.name(),
        label(key),
        key.process.pid,
        key.process.comm,
        counts.histogram.count()
    )
}

/// At most `most` letters, with an ellipsis where some are left out.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Where durations stand on a logarithmic axis; ns.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// Whole decades around `least` and `most`.
    fn around(least: u64, most: u64) -> Self {
        let low = (least.max(1) as f64).log10().floor();
        let high = (most.max(1) as f64).log10().ceil();
        Self {
            low,
            high: high.max(low + 1.0),
        }
    }

    /// 0 at the lower end, 1 at the upper.
    fn at(self, ns: f64) -> f64 {
        ((ns.max(1.0).log10() - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Decades, with their names.
    fn ticks(self) -> impl Iterator<Item = (f64, String)> {
        (self.low as i32..=self.high as i32).map(move |decade| {
            let ns = 10f64.powi(decade);
            (self.at(ns), decade_name(decade))
        })
    }
}

fn decade_name(decade: i32) -> String {
    let (unit, from) = match decade {
        ..3 => ("ns", 0),
        3..6 => ("us", 3),
        6..9 => ("ms", 6),
        _ => ("s", 9),
    };
    format!("{} {unit}", 10f64.powi(decade - from))
}

#[cfg(test)]
mod tests;

//! `heldset explain`.

use std::io::{self, Write};
use std::path::Path;

use heldset_core::code::Code;
use heldset_core::value::{Object, Value};
use heldset_engine::explain::explain;

use crate::args::{Cli, ExplainArgs};
use crate::exit::{Exit, Failure};
use crate::print;

/// Prints the page of a code.
pub(crate) fn run(cli: &Cli, args: &ExplainArgs) -> Result<Exit, Failure> {
    let page = explain(&args.code).map_err(|near| {
        let help = near.map_or_else(|| "codes look like `E012`".to_owned(), |near| format!("did you mean `{near}`?"));
        Failure::usage(Code::E102, format!("there is no code `{}`", args.code), help)
    })?;
    let printed = if cli.json {
        let mut object = Object::new();
        object.set("code", Value::from(page.code.name()));
        object.set("title", Value::from(page.title));
        object.set("text", Value::from(page.text));
        writeln!(io::stdout(), "{}", print::json::text(&object))
    } else {
        write!(io::stdout(), "{}", page.text)
    };
    printed.map_err(|error| Failure::write(Path::new("standard output"), &error))?;
    Ok(Exit::Fine)
}

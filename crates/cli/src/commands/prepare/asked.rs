//! Options that stand for parts of a preparation.

use clap::Args;
use heldset_core::code::Code;
use heldset_core::json;
use heldset_core::value::{Object, Value};

use crate::commands::import::pair;
use crate::exit::Failure;

#[derive(Args)]
pub(crate) struct Asked {
    /// Leave out members that are null
    #[arg(long)]
    remove_nulls: bool,
    /// Take white space off both ends of every text
    #[arg(long)]
    trim_whitespace: bool,
    /// Keep only the first of records with the same values here
    #[arg(long, visible_alias = "deduplicate-by", value_name = "FIELDS", value_delimiter = ',')]
    dedupe_by: Vec<String>,
    /// Leave these fields out
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    drop_fields: Vec<String>,
    /// Give a field another name; may be repeated
    #[arg(long, value_name = "OLD=NEW")]
    rename: Vec<String>,
    /// Put records into splits by these shares, such as `train=0.8,test=0.2`; one of them may be `rest`
    #[arg(long, value_name = "SHARES", value_delimiter = ',')]
    split: Vec<String>,
    /// What the choice depends on, beside the ids (default: 0)
    #[arg(long, value_name = "SEED", allow_hyphen_values = true)]
    seed: Option<String>,
    /// Keep the shares of this field's values in every split
    #[arg(long, value_name = "FIELD")]
    stratify_by: Option<String>,
    /// Never put one value of this field into two splits
    #[arg(long, value_name = "FIELD")]
    group_by: Option<String>,
    /// Read only this split
    #[arg(long, value_name = "NAME")]
    from_split: Option<String>,
}

impl Asked {
    /// Lays what was asked for over a preparation.
    pub(super) fn lay_over(&self, object: &mut Object<'static>) -> Result<(), Failure> {
        let mut cleaning = Object::new();
        for (name, flag) in [("remove_nulls", self.remove_nulls), ("trim_whitespace", self.trim_whitespace)] {
            if flag {
                cleaning.set(name, Value::Bool(true));
            }
        }
        for (name, fields) in [("deduplicate_by", &self.dedupe_by), ("drop_fields", &self.drop_fields)] {
            if !fields.is_empty() {
                cleaning.set(name, Value::Array(fields.iter().cloned().map(Value::from).collect()));
            }
        }
        let mut rename = Object::new();
        for text in &self.rename {
            let (old, new) = pair(text, "--rename", "OLD=NEW")?;
            rename.set(old, Value::from(new));
        }
        if !rename.is_empty() {
            cleaning.set("rename", Value::Object(rename));
        }
        lay(object, "cleaning_config", cleaning);
        let mut split = self.shares()?;
        if let Some(seed) = &self.seed {
            split.set("seed", number(seed).unwrap_or_else(|| Value::from(seed.clone())));
        }
        for (name, field) in [("stratify_by", &self.stratify_by), ("group_by", &self.group_by)] {
            if let Some(field) = field {
                split.set(name, Value::from(field.clone()));
            }
        }
        if !self.split.is_empty() {
            object.remove("split");
        }
        lay(object, "split", split);
        if let Some(name) = &self.from_split {
            object.set("from_split", Value::from(name.clone()));
        }
        Ok(())
    }

    fn shares(&self) -> Result<Object<'static>, Failure> {
        let mut split = Object::new();
        for text in &self.split {
            let (name, share) = pair(text, "--split", "NAME=SHARE")?;
            if ["seed", "stratify_by", "group_by"].contains(&name.as_str()) {
                let help = format!("say `--{} …`", name.replace('_', "-"));
                return Err(Failure::usage(Code::E069, format!("`{name}` is no split"), help));
            }
            if split.contains(&name) {
                let message = format!("split `{name}` is given two shares");
                return Err(Failure::usage(Code::E069, message, "give each split one share"));
            }
            split.set(name, number(&share).unwrap_or_else(|| Value::from(share.clone())));
        }
        Ok(split)
    }
}

/// Adds filters to those of a preparation; all of them must hold.
pub(super) fn filters(object: &mut Object<'static>, more: &[String]) -> Result<(), Failure> {
    if more.is_empty() {
        return Ok(());
    }
    let mut filters: Vec<Value<'static>> = object.remove("filters").into_iter().collect();
    for text in more {
        let value = json::read(text).map(Value::into_owned);
        filters.push(value.map_err(|_| {
            let help = "such as `{\"field\": \"score\", \"operator\": \"gt\", \"value\": 0.8}`";
            Failure::usage(Code::E069, format!("`--filter {text}` is no JSON"), help)
        })?);
    }
    object.set("filters", json_and(filters));
    Ok(())
}

fn json_and(filters: Vec<Value<'static>>) -> Value<'static> {
    let mut and = Object::new();
    and.set("and", Value::Array(filters));
    Value::Object(and)
}

fn lay(object: &mut Object<'static>, name: &'static str, part: Object<'static>) {
    if part.is_empty() {
        return;
    }
    match object.get_mut(name) {
        Some(Value::Object(known)) => part.into_iter().for_each(|(name, value)| known.set(name, value)),
        _ => object.set(name, Value::Object(part)),
    }
}

fn number(text: &str) -> Option<Value<'static>> {
    match json::read(text).map(Value::into_owned) {
        Ok(Value::Number(number)) => Some(Value::Number(number)),
        _ => None,
    }
}

//! The files of a dataset on Hugging Face, at one revision.
//!
//! *Invariant:* a branch becomes its commit before the first file is asked for, and every page names that commit.

use heldset_core::code::Code;
use heldset_core::value::Value;
use heldset_engine::feeds::FeedRequest;
use heldset_engine::refusal::{Outcome, Refusal};
use reqwest::StatusCode;

use super::Sleeper;
use super::http::ask::{Addresses, Asker, Failed, status_of, value_of};
use super::http::{Operation, Service};
use super::keys::{Keys, refuse};
use super::objects::{ALONE, Fetched, Reading, nothing, remark};
use super::running::{Out, Stop, Work};
use crate::requests::percent_encoded;

/// A dataset of the hub.
pub(super) struct Hub {
    service: Service,
    repository: String,
    revision: String,
    split: Option<String>,
    reading: Reading,
}

impl Hub {
    /// Reads the configuration.
    pub(super) fn read(request: &FeedRequest) -> Outcome<Hub> {
        let mut config = Keys::new("config", &request.config);
        let mut operation = Keys::new("operation_config", &request.operation_config);
        let service = Service::known(&mut config, "https://huggingface.co", request.secret.as_ref());
        let repository = config.needed("repo", "write the name of a dataset, such as `owner/name`").to_owned();
        let fine = |part: &str| {
            let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
            !part.is_empty() && !part.starts_with('.') && part.chars().all(plain)
        };
        if !repository.is_empty() && (repository.split('/').count() > 2 || !repository.split('/').all(fine)) {
            config.wrong(format!("`{repository}` is no name of a dataset"), "write it as `owner/name`");
        }
        let revision = operation.text("revision").unwrap_or("main").to_owned();
        let split = operation.text("split").map(str::to_owned);
        let reading = Reading::read(&mut operation, request.after.as_ref());
        refuse([config.done(), operation.done()])?;
        let kept = request.after.as_ref().and_then(Value::as_object).and_then(|after| after.get("revision"));
        let revision = kept.and_then(Value::as_str).map_or(revision, str::to_owned);
        Ok(Hub { service: service?, repository, revision, split, reading })
    }

    /// Reads file after file.
    pub(super) fn work(self, sleeper: Sleeper, mut out: Out) -> Work {
        Box::pin(async move {
            let asker = self.service.asker(&Operation::plain(), sleeper);
            let (commit, names) = self.listing(&asker).await?;
            self.files(&asker, &commit, &names, &mut out).await
        })
    }

    /// The commit of the revision, and the files in it.
    async fn listing(&self, asker: &Asker) -> Outcome<(String, Vec<String>)> {
        let path = format!("/api/datasets/{}/revision/{}", self.repository, percent_encoded(&self.revision));
        let request = self.service.get(self.service.at(&path)?, "application/json");
        let what = format!("`{}` of the dataset `{}`", self.revision, self.repository);
        let answer = match asker.ask(request, &what).await {
            Ok(answer) => answer,
            Err(failed) => return Err(self.missing(failed)),
        };
        let facts = value_of(&answer)?;
        let facts = facts.as_object();
        let commit = facts.and_then(|facts| facts.get("sha")).and_then(Value::as_str);
        let files = facts.and_then(|facts| facts.get("siblings")).and_then(Value::as_array);
        let (Some(commit), Some(files)) = (commit, files) else {
            let message = format!("the answer has no `sha` or no `siblings`, at {what}");
            return Err(Refusal::invalid(Code::E071, message, "see whether `endpoint` is a hub of datasets"));
        };
        let name = |file: &Value<'static>| file.as_object()?.get("rfilename")?.as_str().map(str::to_owned);
        let mut names: Vec<String> = files.iter().filter_map(name).collect();
        names.sort();
        Ok((commit.to_owned(), names))
    }

    async fn files(&self, asker: &Asker, commit: &str, names: &[String], out: &mut Out) -> Result<(), Stop> {
        let chosen: Vec<&String> = names.iter().filter(|name| self.takes(name)).collect();
        if chosen.is_empty() {
            return Err(nothing(&format!("the dataset `{}`", self.repository), &self.reading.choice).into());
        }
        let (mut skipped, mut failed) = (Vec::new(), Vec::new());
        for name in chosen.into_iter().filter(|name| !self.reading.is_past(name)) {
            if let Some(why) = self.reading.skips(name) {
                skipped.push((name.clone(), why.to_owned()));
                continue;
            }
            match self.fetch(asker, commit, name).await {
                Ok(fetched) => self.reading.pages(fetched, &ALONE, out)?,
                Err(gone) if status_of(&gone).is_some_and(|status| status.is_client_error()) => {
                    if self.reading.choice.is_exactly(name) {
                        return Err(gone.refusal().into());
                    }
                    failed.push((name.clone(), gone.refusal().message));
                }
                Err(failed) => return Err(failed.refusal().into()),
            }
        }
        match skipped.is_empty() && failed.is_empty() {
            true => Ok(()),
            false => out.page(remark(skipped, failed, Some(commit))),
        }
    }

    async fn fetch(&self, asker: &Asker, commit: &str, name: &str) -> Result<Fetched, Failed> {
        let steps: Vec<String> = name.split('/').map(percent_encoded).collect();
        let path = format!("/datasets/{}/resolve/{commit}/{}", self.repository, steps.join("/"));
        let request = self.service.get(self.service.at(&path)?, "*/*");
        let (spooled, _, Addresses { asked: url, .. }) = asker.fetch(request, &format!("`{name}`"), false).await?;
        Ok(Fetched {
            name: name.to_owned(),
            asked: url.to_string(),
            size: spooled.size,
            sha256: spooled.sha256,
            revision: Some(commit.to_owned()),
            body: Box::new(spooled.file),
        })
    }

    fn takes(&self, name: &str) -> bool {
        self.reading.choice.takes(name) && self.split.as_deref().is_none_or(|split| is_of_split(name, split))
    }

    fn missing(&self, failed: Failed) -> Box<Refusal> {
        let status = status_of(&failed);
        let mut refusal = failed.refusal();
        if status == Some(StatusCode::NOT_FOUND) || status == Some(StatusCode::UNAUTHORIZED) {
            refusal.message = format!("there is no revision `{}` of a dataset `{}`", self.revision, self.repository);
            refusal.help = "see whether both are right, and whether it wants a credential with `token`".to_owned();
        }
        refusal
    }
}

/// Whether a file belongs to a split, as the hub names files: a folder of that name, or a file whose name has it as a
/// word.
fn is_of_split(name: &str, split: &str) -> bool {
    name.split('/').any(|step| {
        let stem = step.split('.').next().unwrap_or(step);
        stem == split || stem.split(['-', '_']).any(|word| word == split)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_belong_to_splits_by_their_names() {
        for (name, split, expected) in [
            ("data/train-00000-of-00002.parquet", "train", true),
            ("train.jsonl", "train", true),
            ("train/a.csv", "train", true),
            ("data/en_test.csv", "test", true),
            ("data/test-0.parquet", "train", false),
            ("training.csv", "train", false),
        ] {
            assert_eq!(is_of_split(name, split), expected, "{name} {split}");
        }
    }
}

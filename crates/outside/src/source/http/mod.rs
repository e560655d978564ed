//! Rows from a service over HTTP: one request after the other until there is no further page.
//!
//! *Invariant:* pages that do not fit together end the reading; what was read before can be gone on from.

mod answer;
pub(super) mod ask;
mod operation;
mod paging;
mod service;

use std::collections::HashSet;

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::digest::sha256;
use heldset_core::value::Value;
use heldset_engine::feeds::{FeedRequest, Page};
use heldset_engine::refusal::{Outcome, Refusal};
use reqwest::StatusCode;

use super::keys::{Keys, refuse};
use super::running::{Out, Stop, Work};
use super::{Sleeper, jira};
use answer::Parsed;
use ask::Asker;
pub(super) use operation::Operation;
pub(super) use paging::{Kind, Paging};
use paging::{Place, Seen};
pub(super) use service::Service;

/// A service and what is asked of it.
pub(super) struct Http {
    service: Service,
    operation: Operation,
    place: Place,
    secret: bool,
}

impl Http {
    /// Reads the configuration of an `http` or a `jira` connector.
    pub(super) fn read(request: &FeedRequest) -> Outcome<Http> {
        let mut config = Keys::new("config", &request.config);
        let mut keys = Keys::new("operation_config", &request.operation_config);
        let service = Service::read(&mut config, request.secret.as_ref(), request.kind == "jira");
        let operation = match request.kind.as_str() {
            "jira" => jira::operation(&mut config, &mut keys, &request.operation),
            _ => Operation::read(&mut keys, &request.operation),
        };
        refuse([config.done(), keys.done()])?;
        let place = Place::resumed(request.after.as_ref());
        Ok(Http { service: service?, operation, place, secret: request.secret.is_some() })
    }

    /// Reads page after page.
    pub(super) fn work(self, sleeper: Sleeper, mut out: Out) -> Work {
        Box::pin(async move {
            self.service.needs_secret(self.secret)?;
            let asker = self.service.asker(&self.operation, sleeper);
            self.pages(&asker, &mut out).await
        })
    }

    async fn pages(mut self, asker: &Asker, out: &mut Out) -> Result<(), Stop> {
        let mut cursors = HashSet::new();
        let mut place = std::mem::take(&mut self.place);
        loop {
            if place.pages >= self.operation.max_pages {
                return Err(apart(format!("the pages did not end after {}", place.pages), &self.what(&place)).into());
            }
            let (page, next) = self.page(asker, &place, &mut cursors).await?;
            out.page(page)?;
            match next {
                Some(next) => place = next,
                None => return Ok(()),
            }
        }
    }

    /// Asks for one page; the place of the next, if there is one.
    async fn page(
        &mut self,
        asker: &Asker,
        place: &Place,
        cursors: &mut HashSet<String>,
    ) -> Outcome<(Page, Option<Place>)> {
        let answer = loop {
            let request = self.service.request(&self.operation, place)?;
            match asker.ask(request, &self.what(place)).await {
                Err(ask::Failed::Status(StatusCode::NOT_FOUND | StatusCode::GONE, _)) if self.falls_back(place) => {}
                Err(failed) => return Err(failed.refusal()),
                Ok(answer) => break answer,
            }
        };
        let what = self.what(place);
        let asked = answer.asked.clone();
        let (size, digest) = (answer.body.len() as u64, answer.sha256.clone());
        let parsed = answer::read(answer, &self.operation, asker, &what)?;
        let seen = Seen::of(digest.clone(), &parsed.rows);
        if !parsed.rows.is_empty() && place.seen.as_ref().is_some_and(|before| before.repeats(&seen)) {
            return Err(apart("the same page came again".to_owned(), &what));
        }
        let next = self.next(place, &parsed, seen, &what)?;
        if let Some(cursor) = next.as_ref().and_then(Place::cursor)
            && !cursors.insert(cursor)
        {
            return Err(apart("a cursor came back that was there before".to_owned(), &what));
        }
        let page = Page {
            asked,
            size,
            sha256: digest,
            rows: parsed.rows,
            next: next.as_ref().map(Place::value),
            revision: parsed.revision,
            total: parsed.total.or(place.total),
            ..Page::default()
        };
        Ok((page, next))
    }

    fn next(&self, place: &Place, parsed: &Parsed, seen: Seen, what: &str) -> Outcome<Option<Place>> {
        if let (Some(before), Some(now)) = (place.total, parsed.total)
            && before != now
        {
            return Err(apart(format!("the total was {before} and is now {now}"), what));
        }
        let rows = place.rows + parsed.rows.len() as u64;
        let at = self.operation.paging.next(place, parsed).map_err(|why| apart(why, what))?;
        let total = place.total.or(parsed.total);
        if let (None, Some(total), Some(covered)) = (&at, total, self.operation.paging.covered(rows))
            && covered != total
        {
            return Err(apart(format!("the pages ended after {rows} rows, and the total is {total}"), what));
        }
        Ok(at.map(|at| Place { at, pages: place.pages + 1, rows, total, seen: Some(seen) }))
    }

    /// Whether there is another path to try for the first page.
    fn falls_back(&mut self, place: &Place) -> bool {
        place.pages == 0 && !self.operation.other_paths.is_empty() && {
            self.operation.path = self.operation.other_paths.remove(0);
            true
        }
    }

    fn what(&self, place: &Place) -> String {
        format!("page {} of {}", place.pages + 1, self.service.told(&self.operation))
    }
}

/// Pages that do not fit together.
fn apart(why: String, what: &str) -> Box<Refusal> {
    let help = "see `pagination` of the source; what was read before is not lost, a sync goes on from there";
    Refusal::invalid(Code::E072, format!("{why}, at {what}"), help)
}

/// A digest of a row, to tell whether it comes again.
fn row_digest(row: &Value<'static>) -> String {
    sha256(&canonical::bytes(row)).hex()
}

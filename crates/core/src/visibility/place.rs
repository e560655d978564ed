//! Places: where bytes can travel.

use super::named::named;

named! {
    /// A place that bytes can be brought to.
    Place: "Every place."
    ControlPlane "control_plane" "Where the store is run from.",
    EvaluatorWorker "evaluator_worker" "Workers that score.",
    TrainerWorker "trainer_worker" "Workers that train.",
    AgentSandbox "agent_sandbox" "Where the system under test runs.",
    ObjectCache "object_cache" "Caches of objects.",
    LocalDisk "local_disk" "Somebody's disk.",
    ExternalWarehouse "external_warehouse" "Warehouses of others.",
    RemoteOnly "remote_only" "Nowhere: it is read where it lies.",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_its_own_name() {
        assert_eq!(Place::ALL.len(), 8);
        for place in Place::ALL {
            assert_eq!(Place::parse(place.name()), Some(*place));
        }
        assert_eq!(Place::parse("Local_disk"), None);
    }
}

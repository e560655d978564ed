//! Puts a specification in force: limits of the process, and Landlock.
//!
//! *Invariant:* what Landlock of this kernel cannot keep of what was asked is an error, not a weaker fence.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::allow::{Right, left};
use super::spec::{Network, Spec};

/// The newest rights on files that are asked for; older kernels know fewer.
const RIGHTS: ABI = ABI::V5;

/// Whether this kernel has Landlock.
pub(crate) fn is_available() -> bool {
    let asked = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    asked.handle_access(AccessFs::from_all(ABI::V1)).and_then(|ruleset| ruleset.create()).is_ok()
}

/// Lowers the limits that are named; none is ever raised.
pub(crate) fn limit(spec: &Spec) -> Result<(), String> {
    for (name, limit) in &spec.limits {
        let resource = match name.as_str() {
            "core" => Resource::Core,
            "file_size" => Resource::Fsize,
            "processes" => Resource::Nproc,
            "memory" => Resource::As,
            "cpu_seconds" => Resource::Cpu,
            _ => return Err(format!("there is no limit `{name}`")),
        };
        let now = getrlimit(resource);
        let lowest = |now: Option<u64>| Some(now.map_or(*limit, |now| now.min(*limit)));
        let new = Rlimit { current: lowest(now.current), maximum: lowest(now.maximum) };
        setrlimit(resource, new).map_err(|error| format!("`{name}`: {error}"))?;
    }
    Ok(())
}

/// Takes away what is hidden.
pub(crate) fn restrict(spec: &Spec) -> Result<(), String> {
    let status = enforce(spec).map_err(|error| error.to_string())?;
    match status {
        RulesetStatus::NotEnforced => Err("the kernel has no Landlock".to_owned()),
        _ => Ok(()),
    }
}

fn enforce(spec: &Spec) -> Result<RulesetStatus, RulesetError> {
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(RIGHTS))?.scope(Scope::Signal)?;
    if let Network::Ports(_) = spec.network {
        ruleset = ruleset
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessNet::ConnectTcp)?
            .set_compatibility(CompatLevel::BestEffort);
    }
    let mut created = ruleset.create()?;
    let own = spec.read.iter().map(|path| (path.clone(), Right::Read));
    let own = own.chain(spec.write.iter().map(|path| (path.clone(), Right::Write)));
    for (path, right) in left(&spec.hidden, &spec.scratch).into_iter().chain(own) {
        // What is gone or cannot be opened is not left.
        let Ok(opened) = PathFd::new(&path) else { continue };
        created = created.add_rule(PathBeneath::new(opened, rights(right, path.is_dir())))?;
    }
    if let Network::Ports(ports) = &spec.network {
        for port in ports {
            created = created.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
        }
    }
    Ok(created.restrict_self()?.ruleset)
}

fn rights(right: Right, is_folder: bool) -> BitFlags<AccessFs> {
    let rights = match right {
        Right::Read => AccessFs::from_read(RIGHTS),
        Right::Write => AccessFs::from_all(RIGHTS),
    };
    if is_folder { rights } else { rights & AccessFs::from_file(RIGHTS) }
}

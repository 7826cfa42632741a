//! Who may do what: the actions there are, and the roles that allow them.

use crate::platform::UserRole;
use crate::words::words;

words! {
    /// Something that can be done on the platform; keys may be made for some of them only, as their scopes.
    Action {
        /// See the organization and its settings.
        ReadOrganization = "organization:read",
        /// Change its name, settings, budget and retention.
        ChangeOrganization = "organization:write",
        /// Take along everything the organization owns.
        ExportOrganization = "organization:export",
        /// Erase the organization with everything it owns.
        EraseOrganization = "organization:erase",
        /// See who belongs to the organization.
        ReadMembers = "members:read",
        /// Invite people, change their roles, let them go.
        ChangeMembers = "members:write",
        /// See API keys, without the keys themselves.
        ReadKeys = "keys:read",
        /// Make, renew and revoke API keys: one's own, and with `members:write` those of others.
        ChangeKeys = "keys:write",
        /// See for which providers the organization has keys, without the keys themselves.
        ReadSecrets = "secrets:read",
        /// Set and remove keys of providers, see and change secrets that sign webhooks.
        ChangeSecrets = "secrets:write",
        /// See data sets, their versions and cases.
        ReadDatasets = "datasets:read",
        /// Make and change data sets, upload, publish and deprecate versions.
        ChangeDatasets = "datasets:write",
        /// Remove data sets with their results.
        DeleteDatasets = "datasets:delete",
        /// Add agreed answers.
        WriteLabels = "labels:write",
        /// See evaluations, executions, judgements, documents and what happens with them.
        ReadRuns = "runs:read",
        /// Start, stop and resume evaluations, executions and judgements: what costs money.
        StartRuns = "runs:start",
        /// Let a name stand for a run that others are compared with.
        ChangeBaselines = "baselines:write",
        /// See criteria, pass marks, methods, models, judges and prompts.
        ReadDefinitions = "definitions:read",
        /// Make and change them.
        ChangeDefinitions = "definitions:write",
        /// See webhooks and what was sent to them.
        ReadWebhooks = "webhooks:read",
        /// Make, change, try out and remove webhooks.
        ChangeWebhooks = "webhooks:write",
        /// See alerts, how they stand and who was told.
        ReadAlerts = "alerts:read",
        /// Make, change, try out and remove alerts.
        ChangeAlerts = "alerts:write",
        /// Read, verify and export the audit log.
        ReadAudit = "audit:read",
    }
}

/// Viewers look, at everything but who may do what.
const VIEWER: &[Action] = &[
    Action::ReadOrganization,
    Action::ReadDatasets,
    Action::ReadRuns,
    Action::ReadDefinitions,
    Action::ReadAlerts,
];

/// Annotators see what they label, and no results that could sway them.
const ANNOTATOR: &[Action] =
    &[Action::ReadOrganization, Action::ReadDatasets, Action::ReadDefinitions, Action::WriteLabels];

/// What engineers may do beside looking.
const ENGINEER: &[Action] = &[
    Action::ReadMembers,
    Action::ReadKeys,
    Action::ChangeKeys,
    Action::ReadSecrets,
    Action::ChangeDatasets,
    Action::DeleteDatasets,
    Action::WriteLabels,
    Action::StartRuns,
    Action::ChangeBaselines,
    Action::ChangeDefinitions,
    Action::ReadWebhooks,
    Action::ChangeAlerts,
];

impl UserRole {
    /// Whether somebody with this role may do it.
    #[must_use]
    pub fn allows(self, action: Action) -> bool {
        match self {
            Self::Owner => true,
            Self::Admin => action != Action::EraseOrganization,
            Self::Engineer => VIEWER.contains(&action) || ENGINEER.contains(&action),
            Self::Annotator => ANNOTATOR.contains(&action),
            Self::Viewer => VIEWER.contains(&action),
        }
    }

    /// Whether this role may do everything that the other may: only then it may be given away.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        Action::ALL.iter().all(|action| self.allows(*action) || !other.allows(*action))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_may_do_everything_and_an_admin_all_but_the_end() {
        assert!(Action::ALL.iter().all(|action| UserRole::Owner.allows(*action)));
        let kept: Vec<_> =
            Action::ALL.iter().filter(|action| !UserRole::Admin.allows(**action)).collect();
        assert_eq!(kept, [&Action::EraseOrganization]);
    }

    #[test]
    fn viewers_change_nothing() {
        for action in Action::ALL.iter().filter(|action| UserRole::Viewer.allows(**action)) {
            assert!(action.as_str().ends_with(":read"), "{action}");
        }
    }

    #[test]
    fn nobody_gives_away_more_than_they_have() {
        use UserRole::{Admin, Annotator, Engineer, Owner, Viewer};
        assert!(UserRole::ALL.iter().all(|role| Owner.covers(*role)));
        assert!(!Admin.covers(Owner) && Admin.covers(Engineer) && Admin.covers(Annotator));
        assert!(Engineer.covers(Viewer) && Engineer.covers(Annotator) && !Engineer.covers(Admin));
        assert!(!Viewer.covers(Annotator) && !Annotator.covers(Viewer));
    }
}

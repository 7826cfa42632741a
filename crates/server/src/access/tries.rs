//! How often somebody may try: counted for the account, whether it exists or not, and for where they come from.

use std::time::Duration;

use fullbench_store::CountedTry;

use super::secret::{hash_of, hex};
use super::visitor::Visitor;
use crate::app::App;
use crate::problem::{Problem, TOO_MANY};

/// Failures of an account that are let pass before there are waits.
const FREE_OF_ACCOUNT: u32 = 5;
/// Failures of a mail address in all organizations together, and where none is named.
const FREE_OF_ADDRESS: u32 = 10;
/// Failures of a network, in which many people may be.
const FREE_OF_NETWORK: u32 = 50;

/// What may be tried too often.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tried {
    /// Showing who one is.
    SignIn,
    /// Having mail sent.
    Reset,
}

/// A try that counts as failed until it is said to be none.
pub(crate) struct Try {
    account: CountedTry,
    /// The mail address, in all organizations together.
    address: CountedTry,
    email: String,
    network: Option<CountedTry>,
}

impl Try {
    /// Counts a try, unless there were too many.
    pub(crate) async fn begin(
        app: &App,
        tried: Tried,
        account: &Account<'_>,
        visitor: &Visitor,
    ) -> Result<Self, Problem> {
        let counted = |kind: &str, name: &str, free| CountedTry {
            subject: hex(&hash_of(&format!("{tried:?}\0{kind}\0{name}"))),
            free,
        };
        let name = format!("{}\0{}", account.organization, account.email);
        let (email, address) =
            (account.email.to_owned(), counted("address", account.email, FREE_OF_ADDRESS));
        let account = counted("account", &name, FREE_OF_ACCOUNT);
        let network = visitor.network();
        let network = network.map(|network| counted("network", &network, FREE_OF_NETWORK));
        let all = [account.clone(), address.clone()].into_iter().chain(network.clone());
        match app.store().begin_try(&all.collect::<Vec<_>>()).await? {
            Some(wait) => Err(too_often(wait)),
            None => Ok(Self { account, address, email, network }),
        }
    }

    /// It did not fail: what went wrong before is forgotten for the account, and stays for the network. It stays for the address
    /// too where others have an account with it elsewhere, who could otherwise guess and succeed in turns.
    pub(crate) async fn succeeded(self, app: &App) -> Result<(), Problem> {
        app.store().forget_tries(&self.account.subject).await?;
        if app.store().credentials_of_email(&self.email, None).await?.len() > 1 {
            app.store().take_back_try(&self.address).await?;
        } else {
            app.store().forget_tries(&self.address.subject).await?;
        }
        self.take_back_network(app).await
    }

    /// It neither failed nor succeeded.
    pub(crate) async fn undecided(self, app: &App) -> Result<(), Problem> {
        app.store().take_back_try(&self.account).await?;
        app.store().take_back_try(&self.address).await?;
        self.take_back_network(app).await
    }

    async fn take_back_network(&self, app: &App) -> Result<(), Problem> {
        if let Some(network) = &self.network {
            app.store().take_back_try(network).await?;
        }
        Ok(())
    }
}

/// Whom a try is about.
pub(crate) struct Account<'name> {
    /// The slug of the organization; empty where none is said and there are several.
    pub(crate) organization: &'name str,
    pub(crate) email: &'name str,
}

fn too_often(wait: Duration) -> Problem {
    let seconds = wait.as_secs() + 1;
    Problem::new(TOO_MANY, "this went wrong too often")
        .hint(format!("try again in {seconds} s"))
        .retry_after(seconds)
}

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
    /// What a success forgets nothing of: others may have an account with the same address elsewhere.
    others: Vec<CountedTry>,
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
        let address = counted("address", account.email, FREE_OF_ADDRESS);
        let account = counted("account", &name, FREE_OF_ACCOUNT);
        let network = visitor.network();
        let network = network.map(|network| counted("network", &network, FREE_OF_NETWORK));
        let others: Vec<CountedTry> = [Some(address), network].into_iter().flatten().collect();
        let all = [std::slice::from_ref(&account), &others].concat();
        match app.store().begin_try(&all).await? {
            Some(wait) => Err(too_often(wait)),
            None => Ok(Self { account, others }),
        }
    }

    /// It did not fail: what went wrong before is forgotten for the account, and stays for its address and for the network.
    pub(crate) async fn succeeded(self, app: &App) -> Result<(), Problem> {
        app.store().forget_tries(&self.account.subject).await?;
        self.take_back_others(app).await
    }

    /// It neither failed nor succeeded.
    pub(crate) async fn undecided(self, app: &App) -> Result<(), Problem> {
        app.store().take_back_try(&self.account).await?;
        self.take_back_others(app).await
    }

    async fn take_back_others(&self, app: &App) -> Result<(), Problem> {
        for counted in &self.others {
            app.store().take_back_try(counted).await?;
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

// Generated from /openapi.json by `npm run types`: do not edit.

export interface paths {
    readonly "/api/me/balance": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the balance of the key’s account */
        readonly get: operations["readKeyBalance"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me/usage": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the finished requests of the key’s account */
        readonly get: operations["listKeyUsage"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me/usage/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get a finished request with its cost */
        readonly get: operations["readKeyUsage"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/accounts": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List accounts with their balances, sorted by id
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listAccounts"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/accounts/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the balance of an account
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["showAccount"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/accounts/{id}/adjustments": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Credit or debit an account
         * @description Posts one journal entry with the given reason. At most once for each `reference`: a repeated request changes nothing and answers with `posted: false`; the same `reference` with another account or amount is refused with 409. Without `reference`, every request posts a new entry. A debit is posted whole, or refused with 409 where the account has less than that beside what running requests hold. `createAccount` creates a missing account. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["adjustBalance"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me/alerts": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get my alert settings
         * @description Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly get: operations["readAlerts"];
        /**
         * Replace my alert settings
         * @description An alert that is left out is turned off. `lowBalanceNano`: the balance is below this amount. `daySpendNano`: a day in `timeZone` has cost more than this. `keyLimitPercent`: a key has spent this percentage of its spend limit. `errorRatePercent`: this percentage of the last hour’s requests failed, of 20 or more. Conditions are checked once a minute, and each gives one notice until it has ended. Notices are also posted to `webhook`, signed with the webhook secret, and mailed to `email` once that is verified. `newSecret` replaces the webhook secret; `newCode` mails another verification code. Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly put: operations["setAlerts"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me/alerts/email/verify": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Verify the e-mail address of my alerts
         * @description Takes the code that was mailed last, for 24 hours after it was mailed. Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly post: operations["verifyMyEmail"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me/notices": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List my notices, newest first
         * @description Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly get: operations["listMyNotices"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me/notices/read": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Mark my notices as read; without `ids`, all of them
         * @description Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly post: operations["readMyNotices"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/billing/auto-top-up": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the automatic top-up of an account */
        readonly get: operations["readAutoTopUp"];
        /**
         * Set the automatic top-up of an account
         * @description Whenever the balance is below `thresholdNano`, pays `amount` with the payment method of an earlier order, and not more than `monthMost` in a calendar month in UTC. Refused with 409 until an order of the account was paid by `agreeMethod`. A payment that is refused stops the top-up and sends a notice; setting the rule starts it again.
         */
        readonly put: operations["setAutoTopUp"];
        readonly post?: never;
        /** Turn off the automatic top-up of an account */
        readonly delete: operations["removeAutoTopUp"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/channels": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List channels with their state and recent figures
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listChannels"];
        readonly put?: never;
        /**
         * Create a stored channel
         * @description Takes effect in every process within a second. Refused with 409 if the store or the configuration file has a channel of this id. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["createChannel"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/vendors": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the vendors that a channel may use
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listVendors"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/channels/export": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Export the stored channels as a section of a configuration file
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["exportChannels"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/channels/import": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Import channels into the store, or preview an import
         * @description Creates stored channels, or replaces those of the same id: all, or none if one is refused. Without `apply: true`, changes nothing and shows what would change. `***` keeps a stored secret. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["importChannels"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/channels/bulk": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change many stored channels alike
         * @description Changes the channels in `ids`, or those that have `tag`: all, or none if one is refused. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["changeChannels"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/channels/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a channel
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["showChannel"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a stored channel; running requests finish normally
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly delete: operations["deleteChannel"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Update a stored channel
         * @description Fields that are left out keep their values; null restores the default of a field. An item of `keys` without `key`, or with `***`, keeps the stored key of that name. Secrets must be given again where vendor or address change. Callers: admins, and management keys that are bound to no account.
         */
        readonly patch: operations["updateChannel"];
        readonly trace?: never;
    };
    readonly "/api/channels/{id}/state": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Enable, drain or disable a stored channel
         * @description A draining or disabled channel gets no new requests; running requests finish normally. `draining` states that it is temporary. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["setChannelState"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/channels/{id}/versions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the versions of a stored channel, newest first
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listChannelVersions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/channels/{id}/rollback": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Restore an earlier version of a stored channel, also of a deleted one
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["rollbackChannel"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/channels/{id}/test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Test a channel with one small call, which its vendor may charge for
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["testChannel"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/channels/{id}/balance": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Get the remaining balance of a channel from its vendor
         * @description The vendor is asked at most once a minute; in between the latest answer is returned. Refused with 409 where the vendor reports no balance or does not answer. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["askChannelBalance"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/channels/test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Test a channel that is not stored
         * @description Makes the same call as `POST /api/channels/{id}/test` with the channel of the body, and stores nothing. `***` stands for a secret of the stored channel of the same id. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["testChannelDraft"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/channels/{id}/vendor-models": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * List the models of a channel’s vendor, from the vendor’s own list
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["listVendorModels"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/channels/vendor-models": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * List the models of the vendor of a channel that is not stored
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["listDraftModels"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/doctor": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List recent requests and their mistakes, newest first
         * @description For setting up a client: requests that were refused before any vendor was asked, with the mistake in each, and requests that reached a vendor. Refused requests are kept in memory, without secrets and bodies, the latest 30 of each account. Covers the last 15 minutes unless `since` is given.
         */
        readonly get: operations["listArrivals"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/doctor/live": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Stream arriving requests and their mistakes as server-sent events
         * @description Sends `event: arrival` once for each request that `GET /api/doctor` would list, from now on.
         */
        readonly get: operations["followArrivals"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/configuration/groups": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the groups of the configuration file and of the store, as declared there
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listConfiguredGroups"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/configuration/groups/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a group as declared in the configuration file or the store
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["showConfiguredGroup"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/groups/{id}/versions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the versions of a stored group, newest first
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listGroupVersions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/groups": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the groups that the caller may see, with models and price multipliers */
        readonly get: operations["listGroups"];
        readonly put?: never;
        /**
         * Create a stored group
         * @description Takes effect in every process within a second. Refused with 409 if the store or the configuration file has a group of this name. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["createGroup"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/groups/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a stored group that nothing refers to
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly delete: operations["deleteGroup"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Update a stored group
         * @description Fields that are left out keep their values; null restores the default of a field. Callers: admins, and management keys that are bound to no account.
         */
        readonly patch: operations["updateGroup"];
        readonly trace?: never;
    };
    readonly "/api/groups/{id}/rollback": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Restore an earlier version of a stored group, also of a deleted one
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["rollbackGroup"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/configuration/models": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the models of the configuration file and of the store, as declared there
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listConfiguredModels"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/configuration/models/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a model as declared in the configuration file or the store
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["showConfiguredModel"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/models/{id}/versions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the versions of a stored model, newest first
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listModelVersions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/models": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the models of a group with their prices
         * @description Callers who are not signed in see the groups that the configuration makes public. `search` finds a part of the name or of the vendor. `context` is the smallest context window in tokens.
         */
        readonly get: operations["listModels"];
        readonly put?: never;
        /**
         * Create a stored model
         * @description Takes effect in every process within a second. Refused with 409 if the store or the configuration file has a model of this name. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["createModel"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/models/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get a model with its price for a group */
        readonly get: operations["showModel"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a stored model that nothing refers to
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly delete: operations["deleteModel"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Update a stored model
         * @description Fields that are left out keep their values; null restores the default of a field. Callers: admins, and management keys that are bound to no account.
         */
        readonly patch: operations["updateModel"];
        readonly trace?: never;
    };
    readonly "/api/models/{id}/rollback": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Restore an earlier version of a stored model, also of a deleted one
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["rollbackModel"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/events": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List operator events, newest first
         * @description An event is a change by an admin, by a management key that is bound to no account or by the command line, an operator’s viewing as another account (`viewAs`), a sign-in by a one-time link, or the deletion of an account by its owner. `text` searches in all fields of an event. Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listEvents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/events/export": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Export operator events as CSV or JSON lines
         * @description Takes the filters of `GET /api/events`; `format=json` gives one JSON object on each line. Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["exportEvents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/events/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get an operator event
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["showEvent"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/groups/uses": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the use of each group: people, invitations, keys, channels and requests
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listGroupUses"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me/history": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get what is kept of my messages */
        readonly get: operations["readHistoryChoice"];
        /**
         * Set what is kept of my messages
         * @description Takes effect in every process within a second. Messages that are kept already expire as planned, or earlier where `retentionDays` is shorter now. Refused with 400 where the operator allows less.
         */
        readonly put: operations["setHistoryChoice"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me/export": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Export all my data as a ZIP of NDJSON files: usage, keys without secrets, messages */
        readonly get: operations["exportMyData"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/history": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List kept messages, newest first
         * @description `text` searches in bodies of the caller’s own account that are not sealed. A page of such a search may have fewer items than `limit`, or none, although more pages follow: read on until `next` is null.
         */
        readonly get: operations["listHistory"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete kept messages of a period, or all of them
         * @description Needs `since`, `until` or `all=true`. Messages that are still being written are deleted too. Admins may name an `account`.
         */
        readonly delete: operations["deleteHistory"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/history/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the kept message of a request: its bodies and files */
        readonly get: operations["readHistory"];
        readonly put?: never;
        readonly post?: never;
        /** Delete the kept message of a request */
        readonly delete: operations["deleteMessage"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/history/{id}/blobs/{blob}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a file of a kept message, which its bodies name `blob:ID`
         * @description The bytes are sealed where the message is sealed.
         */
        readonly get: operations["readHistoryBlob"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/admin/history/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the kept message of any account, with the requests that were sent to vendors
         * @description A body is shown only where `history.adminReads` allows it; else the request is refused with 403. Each use is recorded as an operator event. Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["inspectHistory"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/admin/history/{id}/blobs/{blob}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a file of a kept message of any account
         * @description Answers 404 for open messages of other accounts unless `history.adminReads` allows it. Each use is recorded as an operator event. Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["inspectHistoryBlob"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/keys": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List keys with their spend and last use
         * @description Keys of the caller’s account; operators get those of all accounts, or of `account`. Oldest first unless `sort` is given. `search` finds a part of the name or of the last four characters. Keys that the playground made are listed with `playground=with` or `playground=only`.
         */
        readonly get: operations["listKeys"];
        readonly put?: never;
        /**
         * Create a key
         * @description The reply contains the secret, which cannot be read again. Operators may name another account, which is created if it does not exist. The account must be allowed to use the group. A limit that is null or left out does not apply. Refused with 409 where the account has `identity.mostKeys` keys, unless an operator asks.
         */
        readonly post: operations["createKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/keys/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Count keys by status and sum up their spend
         * @description Deleted keys, and keys that the playground made, are left out.
         */
        readonly get: operations["summarizeKeys"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/keys/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get a key */
        readonly get: operations["showKey"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a key
         * @description It stops working within a second. Its usage records stay. A key of the configuration file cannot be deleted here (409).
         */
        readonly delete: operations["deleteKey"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Update a key
         * @description Fields that are left out keep their values; null removes a limit.
         */
        readonly patch: operations["updateKey"];
        readonly trace?: never;
    };
    readonly "/api/keys/{id}/rotate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Rotate a key
         * @description Creates a new secret, which only this reply contains. The previous secret works for `overlapSeconds` more: 86,400 unless given, at most 604,800; 0 stops it within a second. Secrets before that one stop working.
         */
        readonly post: operations["rotateKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/keys/{id}/disable": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Disable a key within a second */
        readonly post: operations["disableKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/keys/{id}/enable": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Enable a key that was disabled */
        readonly post: operations["enableKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/keys/{id}/impact": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get what would be affected by deleting a key */
        readonly get: operations["showKeyImpact"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/keys/{id}/test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Test whether a key would be accepted now, and for which models
         * @description Calls no vendor and charges nothing. `address` is the client address to test; without it, the address list is not tested. Limits per minute are not tested.
         */
        readonly post: operations["testKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/management-keys": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List management keys, oldest first */
        readonly get: operations["listManagementKeys"];
        readonly put?: never;
        /**
         * Create a management key
         * @description The reply contains the secret, which cannot be read again. Users create keys of their own account. For operators, a key without `account` manages the whole deployment. A management key cannot create one with more scopes than its own, or one that expires later (403).
         */
        readonly post: operations["createManagementKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/management-keys/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get a management key */
        readonly get: operations["showManagementKey"];
        readonly put?: never;
        readonly post?: never;
        /** Delete a management key; it stops working at once */
        readonly delete: operations["deleteManagementKey"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Update the name, scopes or expiry of a management key
         * @description Fields that are left out keep their values; `expiresAt: null` removes the expiry. A management key can neither add scopes that it lacks nor an expiry later than its own (403).
         */
        readonly patch: operations["updateManagementKey"];
        readonly trace?: never;
    };
    readonly "/api/management-keys/{id}/disable": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Disable a management key at once */
        readonly post: operations["disableManagementKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/management-keys/{id}/enable": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Enable a management key that was disabled */
        readonly post: operations["enableManagementKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get my account as a person */
        readonly get: operations["showMe"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete my account permanently
         * @description Deletes name, e-mail address, identities, sessions, keys, messages and preferences. Journal and usage stay, under the bare id of the account. `confirm` must be the id of the account. If money is left, the request is refused with 409 unless `forfeit` is true. The last admin cannot be deleted (409). Refused with 403 unless the session began within the last 15 minutes. Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly delete: operations["deleteMe"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Update my name
         * @description Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly patch: operations["updateMe"];
        readonly trace?: never;
    };
    readonly "/api/me/sessions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List my sessions, newest first
         * @description Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly get: operations["listMySessions"];
        readonly put?: never;
        readonly post?: never;
        /**
         * End my other sessions, or all of them
         * @description Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly delete: operations["endMySessions"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me/sessions/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * End one of my sessions
         * @description Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly delete: operations["endMySession"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me/identities": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List my identities: the accounts at identity providers with which I sign in
         * @description Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly get: operations["listMyIdentities"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me/identities/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Unlink one of my identities, so that it no longer signs in
         * @description Refused with 403 unless the session began within the last 15 minutes, and with 409 for the only identity. Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly delete: operations["unlinkMyIdentity"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/model-choices": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the values by which the models of a group can be filtered */
        readonly get: operations["listModelChoices"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/models/{id}/prices": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List past and scheduled price changes of a model, newest first */
        readonly get: operations["listModelPrices"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/prices/feed.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the latest price changes as JSON Feed 1.1 */
        readonly get: operations["priceFeedJSON"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/prices/feed.rss": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the latest price changes as RSS 2.0 */
        readonly get: operations["priceFeedRSS"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/operations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the state of the deployment: load, errors, channels, money and alerts
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["readOperations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/payments/offer": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the ways to pay for credit, and the credit and bonus for each */
        readonly get: operations["readPaymentOffer"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/orders": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List orders, newest first
         * @description `stuck`: only orders that are open for more than two minutes. `flagged`: only orders with a `flag`. `number`: the id of an order, or the provider’s number of a payment.
         */
        readonly get: operations["listOrders"];
        readonly put?: never;
        /**
         * Create an order for credit
         * @description Answers with `pay`, how to pay the order at the provider. A repeated request with the same `attempt` answers with the same order; with another provider or amount it is refused with 409. `amount` is in the provider’s currency. Refused with 409 where the provider refuses the order or cannot be reached.
         */
        readonly post: operations["createOrder"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/orders/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get an order with its payments, refunds and timeline */
        readonly get: operations["readOrder"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/orders/{id}/check": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Ask the provider now whether an order is paid, and credit it if so */
        readonly post: operations["checkOrder"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/orders/{id}/cancel": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Cancel an order
         * @description If it was paid meanwhile, it is credited instead. Refused with 409 unless its state is `created` or `shown`.
         */
        readonly post: operations["cancelOrder"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/orders/{id}/events": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Stream an order as it changes as server-sent events
         * @description Sends `event: order` with the whole order at once and after each change.
         */
        readonly get: operations["followOrder"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/payments/bill": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Compare a payment provider’s bill of a day with the booked payments
         * @description `day` is in China’s time zone and must be over. For a difference whose `isOrder` is true, `POST /api/orders/{id}/check` asks the provider and credits what was paid. Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["comparePaymentBill"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/orders/{id}/refund": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Preview what a refund would take from the wallet
         * @description Changes nothing. Refused with 409 where that amount cannot be refunded. Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["planRefund"];
        readonly put?: never;
        /**
         * Refund an order or a part of it
         * @description Takes the money from the wallet and has the provider pay it back; at most what the account has beside bonuses. The first top-up bonus is taken back in proportion. Without `amount`, all that is left of the payment. A repeated request with the same `refund` answers with the same refund. State `pending`: the provider has not confirmed it, and is asked again. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["refundOrder"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/payments/{provider}/notify": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Receive a notification of a payment provider
         * @description For payment providers only, which sign their notifications.
         */
        readonly post: operations["notifyPayment"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/payments/wechatpay/openid": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Continue an order in WeChat’s browser: the address to which WeChat redirects */
        readonly get: operations["continueOrder"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/people": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List people
         * @description Every account as a person. `search` finds accounts by id, name, e-mail address, identity, and by id, name or last characters of a key. `sort` puts the newest, the largest or the latest first; `spend` lists only accounts that spent in the last 30 days, at most the first 1,000. Deleted people are listed only with `status=deleted`. Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listPeople"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/people/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a person
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["showPerson"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a person permanently
         * @description Deletes name, e-mail address, identities, sessions, keys and messages. Journal and usage stay, under the bare id. The last admin cannot be deleted (409). Callers: admins, and management keys that are bound to no account.
         */
        readonly delete: operations["deletePerson"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Update the name, role or groups of a person
         * @description Takes effect with the person’s next request. The last admin keeps the role (409). Callers: admins, and management keys that are bound to no account.
         */
        readonly patch: operations["updatePerson"];
        readonly trace?: never;
    };
    readonly "/api/people/{id}/suspend": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Suspend a person: end sessions at once, and stop keys within a second
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["suspendPerson"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/people/{id}/resume": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Resume a suspended person
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["resumePerson"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/invitations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List invitations, newest first, without their codes
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listInvitations"];
        readonly put?: never;
        /**
         * Create an invitation, with which one person can sign up
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["createInvitation"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/invitations/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Revoke an invitation that is not used
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly delete: operations["revokeInvitation"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/playground/key": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Get a key for the playground, valid for an hour
         * @description There is one such key for each account and group, and its usage stays under one id. A repeated request creates a new secret; the previous secret works until its own hour is over. Without `group`, the group is `default`, or else the first that the account may use. Refused with 409 if the key is disabled.
         */
        readonly post: operations["createPlaygroundKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/me/preferences": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get my preferences in the console
         * @description Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly get: operations["readPreferences"];
        /**
         * Replace my preferences in the console
         * @description A preference that is left out is reset to its default. `timeZone` is an IANA name. `columns` holds the settings of each table by its id, at most 16 KiB in all. Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly put: operations["setPreferences"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/prices": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List price cards with their source
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listPrices"];
        readonly put?: never;
        /**
         * Set the prices of a model, from now or from a later time
         * @description Adds a card of all given prices. If a price changes more than tenfold, or to or from 0, nothing is stored and `card` is null, unless `allowLarge` is true. Refused with 409 if prices were changed meanwhile. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["setPrices"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/prices/missing": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List models without a price, whose requests are refused
         * @description Models that channels serve or clients asked for; those with the most refused requests first. Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listMissingPrices"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/prices/diff": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the models whose price in force differs from the shipped price
         * @description `POST /api/prices/withdraw` adopts the shipped prices of one model whose prices were set or imported. To compare with a published document, use `POST /api/prices/import`, also for one `model`. Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listShippedPriceDifferences"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/prices/effect": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Compute what proposed prices would have charged for the requests of the last 7 days
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly post: operations["readPriceEffect"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/prices/cancel": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Cancel a scheduled price card
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["cancelPrices"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/prices/withdraw": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Withdraw the prices that were set for a model, so that the shipped prices apply
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["withdrawPrices"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/prices/rollback": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Restore an earlier version of a model’s prices
         * @description Adds the earlier card as a new version. Without `version`, the card before the one in force. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["rollbackPrices"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/prices/import": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Import prices from a document, or preview an import
         * @description With `apply: true` stores all changes or none: none if one is large and `allowLarge` is not true. Without it, only shows the changes. `vendor` names the vendor of the document, and `model` restricts it to a name or a pattern ending in `*`. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["importPrices"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/reconcile": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Reconcile a period: compare request records, journal and totals
         * @description Computes the sums of request records, journal entries and totals by day and account, to the nano-unit, and prices every request again. Changes nothing. A long period is answered in parts: repeat the request with `cursor` until `next` is null. A day may be split over two answers, whose sums are to be added. At most 3,700 days.
         */
        readonly post: operations["reconcile"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/orders/{id}/receipt": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the receipt of a paid order
         * @description As JSON, or with `format=html` as a page for browsers to print or save as PDF, in `language`. Refused with 409 while nothing of the order is paid. Failed refunds are left out.
         */
        readonly get: operations["readOrderReceipt"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/payments/health": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the latest notifications and the open orders of each payment provider
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["readPaymentHealth"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/payments/{provider}/self-test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Test whether a payment provider can reach the callback address
         * @description Posts a question to the callback address that only a process with the same `ENCRYPTION_KEY` can answer. As providers do, it follows no redirect and waits for 5 s. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["testPaymentCallback"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/redemption-batches": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List batches of redemption codes, newest first
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listRedemptionBatches"];
        readonly put?: never;
        /**
         * Create a batch of redemption codes
         * @description The reply contains the codes, which cannot be read again. Each gives its credit once. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["createRedemptionBatch"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/redemption-batches/{id}/revoke": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Revoke the unused codes of a batch; redeemed credit stays
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["revokeRedemptionBatch"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/redeem": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Redeem a code; its credit is available at once */
        readonly post: operations["redeemCode"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/search": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Search by id or text
         * @description Finds requests by their id (or, among the latest 10,000, by the id that the vendor, the client or the trace gave them), keys by id, part of the name, beginning of the secret or its last four characters, models by part of the name, and orders by their own number or the payment provider’s; for operators also channels and groups, and accounts by id, name, e-mail address, identity or key. Exact matches of an id come first; at most 20 results.
         */
        readonly get: operations["search"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/set-aside-records": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the records that the ledger refused and that still hold money, newest first
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listSetAsides"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/set-aside-records/{id}/settle": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Settle a set-aside record after all
         * @description Charges the request from what the record holds and the free money of the account. Repeating it changes nothing. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["settleSetAside"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/set-aside-records/{id}/discard": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Release what a set-aside record holds, without charging it
         * @description Repeating it changes nothing. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["discardSetAside"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/settings": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the settings that can be changed while servers run
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listSettings"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/settings/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a setting
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["showSetting"];
        /**
         * Set a setting; takes effect in every process within a second
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly put: operations["setSetting"];
        readonly post?: never;
        /**
         * Unset a setting, so that its default applies
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly delete: operations["unsetSetting"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/notices": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the notices that are shown to everybody who is signed in */
        readonly get: operations["listNotices"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/webhooks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the webhooks of the configuration with their latest deliveries
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["listWebhooks"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/webhooks/{id}/test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Send a signed test post to a webhook
         * @description Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["testWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/requests": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List finished requests, newest first
         * @description Covers the last 24 hours, or the 24 hours before `until`, unless `since` or `id` is given. Where few requests match, a page may have fewer items than `limit`, or none, although more pages follow: read on until `next` is null.
         */
        readonly get: operations["listRequests"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/requests/live": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Stream finished requests as server-sent events
         * @description Sends `event: request` once for each matching request, in the order of settlement, from now on, or after the event in `Last-Event-ID`. `event: missed` tells that some requests were left out: that event is too old, or more than `most` requests ended within half a second, of which only the newest `most` are sent.
         */
        readonly get: operations["followRequests"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/requests/running": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List running requests with their cost so far, oldest first
         * @description As each process reported within the last second. Realtime sessions are not listed.
         */
        readonly get: operations["listRunning"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/requests/{id}/stop": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Stop a running request
         * @description Closes the connection to the vendor, sends the error `request_stopped` to the client, and charges what was delivered. Refused with 409 if the request has ended.
         */
        readonly post: operations["stopRequest"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/requests/export": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Export finished requests as CSV or JSON lines
         * @description Takes the filters and the usual period of `GET /api/requests`; `format=json` gives one JSON object on each line.
         */
        readonly get: operations["exportRequests"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/requests/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get a finished request with its receipt, its attempts and the party at fault */
        readonly get: operations["showRequest"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/balance": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the balance of an account */
        readonly get: operations["readBalance"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/ledger": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the journal entries of an account’s wallet, newest first */
        readonly get: operations["listEntries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/requests/{id}/share": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Create a link to a finished request
         * @description Whoever has the token can read how the request went, without messages, cost, account, key, group and client address. The link expires after `days` (7 unless given, at most 90) and cannot be revoked.
         */
        readonly post: operations["shareRequest"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/shared/requests/{token}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get a request by its link */
        readonly get: operations["readSharedRequest"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/routing/preview": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Preview which channels would serve a request, and why the others would not
         * @description Shows the state of channels in the process that answers, and sends nothing to vendors. For a real request, channels of equal priority are drawn at random by weight. Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly post: operations["previewRouting"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/auth/providers": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the identity providers, and who may sign up */
        readonly get: operations["listProviders"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/auth/sign-in/{provider}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Redirect to an identity provider to sign in */
        readonly get: operations["signIn"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/auth/callback/{provider}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Complete a sign-in: the address to which the identity provider redirects */
        readonly get: operations["finishSignIn"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/auth/link": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Sign in with a one-time link
         * @description The link is made on the command line of the server. It signs in once, and makes its account an admin.
         */
        readonly get: operations["signInByLink"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/auth/link/{provider}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Begin to link an identity at another provider to my account
         * @description Answers with the address at the provider to open in the browser. Refused with 403 unless the session began within the last 15 minutes. Callers: signed-in people, for their own account; management keys are refused.
         */
        readonly post: operations["linkProvider"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/auth/sign-out": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** End the session */
        readonly post: operations["signOut"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/statements": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the months for which there are statements, newest first */
        readonly get: operations["listStatements"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/statements/{month}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the statement of a month: balances, journal entries, and charges by key and model
         * @description As JSON, as CSV, or with `format=html` as a page for browsers to print or save as PDF, in `language`. A month begins at midnight in `timeZone`, UTC unless given.
         */
        readonly get: operations["readStatement"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/statistics": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a metric over time, by up to two dimensions
         * @description Users get the usage of their own account; operators that of all accounts or of `account`. The `limit` largest groups have a series each, and all others share one.
         */
        readonly get: operations["readStatistics"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/statistics/breakdown": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get a breakdown of usage by up to two dimensions, with totals */
        readonly get: operations["readBreakdown"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/statistics/export": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Export statistics as CSV or JSON
         * @description What `GET /api/statistics` (`view=series`) or the breakdown (`view=breakdown`) shows, as a file.
         */
        readonly get: operations["exportStatistics"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/statistics/choices": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the values by which statistics can be filtered, at most 500 of each dimension */
        readonly get: operations["listStatisticsChoices"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/overview": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the figures of today, 7 and 30 days, and how long the balance lasts */
        readonly get: operations["readOverview"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/features": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the optional features that are turned on */
        readonly get: operations["listFeatures"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/status": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the status page: 90 days of each model of public groups, and incidents
         * @description Answers 404 unless the setting `statusPage` is true. Names no channel and no vendor.
         */
        readonly get: operations["readStatusPage"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/status/feed.rss": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the incidents of the status page as RSS 2.0 */
        readonly get: operations["statusFeed"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/backup": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the command that backs up this deployment
         * @description Callers: auditors, admins, and management keys that are bound to no account.
         */
        readonly get: operations["showBackup"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/audit": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Audit the ledger: recompute every balance and total, and report differences
         * @description May take minutes. Answers with lines of JSON: `{"state":"running","seconds":N}` every 5 seconds, and at the end `{"state":"done","audit":{...}}` or `{"state":"failed","message":"..."}`. Stops when the caller disconnects. Each process runs one audit at a time and refuses a second one with 409. Callers: admins, and management keys that are bound to no account.
         */
        readonly post: operations["runAudit"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/what-if": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Compute what past requests would cost now, with another model or group */
        readonly get: operations["whatIf"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What the request would cost now. Costs are decimal texts of the currency. */
        readonly CostEstimate: {
            /** @constant */
            readonly object: "cost_estimate";
            readonly model: string;
            readonly currency: string;
            readonly input_tokens: number;
            /** @description Without any output: the prompt as counted by the gateway, and units that are asked for, such as images */
            readonly min_cost: string;
            readonly max_output_tokens: number;
            /** @description What would be held for a whole reply */
            readonly max_cost: string;
            readonly price_version: number;
        };
        /** @description Error in OpenAI’s format. */
        readonly Error: {
            readonly error: {
                readonly message: string;
                /** @enum {string} */
                readonly type: "invalid_request_error" | "insufficient_quota" | "rate_limit_exceeded" | "server_error" | "service_unavailable";
                /** @description Field at fault; null: none. */
                readonly param: string | null;
                /** @description Error code, for programs to act on: one of those listed for the status of the reply. */
                readonly code: string;
            };
        };
        /** @description Error in Anthropic’s format, at paths of that format and for requests with `anthropic-version`. */
        readonly AnthropicError: {
            /** @constant */
            readonly type: "error";
            readonly error: {
                readonly type: string;
                readonly message: string;
                /** @description More specific error code, where there is one. */
                readonly details?: {
                    readonly error_code: string;
                };
            };
            readonly request_id: string;
        };
        /** @description Error in Google’s format. */
        readonly GoogleError: {
            readonly error: {
                /** @description HTTP status of the reply. */
                readonly code: number;
                readonly message: string;
                readonly status: string;
                /** @description `ErrorInfo` with the error code as `reason`, `BadRequest` with the field at fault, `RetryInfo` with the time to wait. */
                readonly details: readonly {
                    readonly "@type": string;
                }[];
            };
        };
        /** @description Error in the client’s format: Anthropic’s if the request has `anthropic-version`, Google’s if it asks for models with `x-goog-api-key`, else OpenAI’s. */
        readonly AnyError: components["schemas"]["Error"] | components["schemas"]["AnthropicError"] | components["schemas"]["GoogleError"];
        readonly ChatText: {
            /** @constant */
            readonly type: "text";
            readonly text: string;
        };
        /** @description An image; only for models with vision. */
        readonly ChatImage: {
            /** @constant */
            readonly type: "image_url";
            readonly image_url: {
                /** @description Address of the image: `http:`, `https:` or `data:`. */
                readonly url: string;
                readonly detail?: string;
            };
        };
        readonly ChatPart: components["schemas"]["ChatText"] | components["schemas"]["ChatImage"] | {
            /** @constant */
            readonly type: "input_audio";
        } | {
            /** @constant */
            readonly type: "file";
        } | {
            /** @constant */
            readonly type: "video_url";
        };
        readonly ChatTexts: string | readonly components["schemas"]["ChatText"][];
        readonly ChatMessage: {
            /** @enum {string} */
            readonly role: "developer" | "system";
            readonly content: components["schemas"]["ChatTexts"];
        } | {
            /** @constant */
            readonly role: "user";
            readonly content: string | readonly components["schemas"]["ChatPart"][];
        } | ({
            /** @constant */
            readonly role: "assistant";
            readonly content?: string | readonly (components["schemas"]["ChatText"] | {
                /** @constant */
                readonly type: "refusal";
            })[] | null;
            readonly tool_calls?: readonly components["schemas"]["ChatToolCall"][] | null;
            readonly refusal?: string | null;
        } | unknown | {
            readonly tool_calls: readonly unknown[];
        } | {
            readonly refusal: string;
        }) | {
            /** @constant */
            readonly role: "tool";
            readonly content: string | readonly (components["schemas"]["ChatText"] | components["schemas"]["ChatImage"] | {
                /** @constant */
                readonly type: "file";
            })[];
            readonly tool_call_id: string;
        } | {
            /** @constant */
            readonly role: "function";
            readonly content?: components["schemas"]["ChatTexts"] | null;
        };
        readonly ChatToolCall: {
            readonly id: string;
            readonly type: string;
            readonly function?: {
                readonly name: string;
                readonly arguments: string;
            };
        };
        readonly ChatTool: {
            /** @description `function`, or a type of the vendor’s own. */
            readonly type: string;
            readonly function?: {
                readonly name?: string;
                readonly description?: string;
                /** @description Parameters of the function, as a JSON Schema. */
                readonly parameters?: Record<string, never>;
                readonly strict?: boolean | null;
            };
        };
        /** @description Fields that are not described here are passed to the vendor unchanged. */
        readonly ChatRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /** @description The conversation so far, oldest message first. */
            readonly messages: readonly components["schemas"]["ChatMessage"][];
            /** @description `true`: stream the reply as server-sent events. */
            readonly stream?: boolean | null;
            /** @description Options of a stream; only with `stream: true`. */
            readonly stream_options?: {
                /** @description `true`: the last chunk contains the usage. */
                readonly include_usage?: boolean | null;
            } | null;
            /** @description Sampling temperature: higher values make the text more random. */
            readonly temperature?: number | null;
            /** @description Nucleus sampling: only the most likely tokens whose probabilities add up to this share are considered. */
            readonly top_p?: number | null;
            /** @description Number of replies to make. */
            readonly n?: number | null;
            readonly presence_penalty?: number | null;
            readonly frequency_penalty?: number | null;
            /** @description Most tokens of the reply; 0 counts as no limit. */
            readonly max_completion_tokens?: number | null;
            /** @description Older name of `max_completion_tokens`; must equal it if both are given. */
            readonly max_tokens?: number | null;
            readonly logprobs?: boolean | null;
            readonly top_logprobs?: number | null;
            /** @description Text, or list of texts, before which the reply ends. */
            readonly stop?: string | readonly string[] | null;
            readonly seed?: number | null;
            readonly logit_bias?: Record<string, never> | null;
            readonly tools?: readonly components["schemas"]["ChatTool"][] | null;
            /** @description Whether tools are called: `auto`, `none`, `required`, or the tool to call. */
            readonly tool_choice?: string | Record<string, never> | null;
            readonly parallel_tool_calls?: boolean | null;
            /** @description Form of the reply: `text`, `json_object` or `json_schema`. */
            readonly response_format?: {
                readonly type: string;
            } | null;
            /** @description Amount of reasoning: `none`, `low`, `medium`, `high`, or another level of the model. */
            readonly reasoning_effort?: string | null;
            /** @description Id of the end user, chosen by the client; passed to the vendor. */
            readonly user?: string | null;
            readonly metadata?: Record<string, never> | null;
            /** @description Service tier. A tier with another price is removed and named in `x-tollgate-dropped`. */
            readonly service_tier?: unknown;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        readonly ChatUsage: {
            readonly prompt_tokens: number;
            readonly completion_tokens: number;
            readonly total_tokens: number;
            readonly prompt_tokens_details?: Record<string, never> | null;
            readonly completion_tokens_details?: Record<string, never> | null;
            /** @description Cost of the request as a decimal amount in the currency; present where the request or the key asks for it. */
            readonly cost?: string;
        };
        readonly ChatCompletion: {
            readonly id: string;
            /** @constant */
            readonly object: "chat.completion";
            readonly created: number;
            readonly model: string;
            readonly choices: readonly {
                readonly index: number;
                readonly message: {
                    readonly role: string;
                    readonly content?: string | null;
                    readonly refusal?: string | null;
                    /** @description Reasoning of the model, where the vendor shows it. */
                    readonly reasoning_content?: string | null;
                    readonly tool_calls?: readonly components["schemas"]["ChatToolCall"][];
                };
                readonly finish_reason: string | null;
                readonly logprobs?: Record<string, never> | null;
            }[];
            readonly usage?: components["schemas"]["ChatUsage"];
            readonly system_fingerprint?: string | null;
            readonly service_tier?: string | null;
        };
        /** @description Data of one event. A complete stream ends with `data: [DONE]`; a broken one ends with an `Error` and without `[DONE]`. */
        readonly ChatChunk: {
            readonly id: string;
            /** @constant */
            readonly object: "chat.completion.chunk";
            readonly created: number;
            readonly model: string;
            readonly choices: readonly {
                readonly index: number;
                readonly delta: {
                    readonly role?: string;
                    readonly content?: string | null;
                    readonly reasoning_content?: string | null;
                    readonly tool_calls?: readonly {
                        readonly index: number;
                        readonly id?: string;
                        readonly type?: string;
                        readonly function?: Record<string, never>;
                    }[];
                };
                readonly finish_reason?: string | null;
                readonly logprobs?: Record<string, never> | null;
            }[];
            readonly usage?: components["schemas"]["ChatUsage"] | null;
        };
        readonly TokenIds: readonly number[];
        /** @description Fields that are not described here are passed to the vendor unchanged. */
        readonly CompletionRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /** @description A text, a list of texts, a list of token ids, or a list of such lists. */
            readonly prompt: string | readonly string[] | components["schemas"]["TokenIds"] | readonly components["schemas"]["TokenIds"][];
            /** @description `true`: stream the reply as server-sent events. */
            readonly stream?: boolean | null;
            /** @description Options of a stream; only with `stream: true`. */
            readonly stream_options?: {
                /** @description `true`: the last chunk contains the usage. */
                readonly include_usage?: boolean | null;
            } | null;
            readonly suffix?: string | null;
            /** @description Most tokens of the reply; 0 counts as no limit. */
            readonly max_tokens?: number | null;
            /** @description Sampling temperature: higher values make the text more random. */
            readonly temperature?: number | null;
            /** @description Nucleus sampling: only the most likely tokens whose probabilities add up to this share are considered. */
            readonly top_p?: number | null;
            readonly n?: number | null;
            /** @description Number of completions to make, of which the best `n` are returned; at least `n`, and not with a stream. */
            readonly best_of?: number | null;
            readonly logprobs?: number | null;
            readonly echo?: boolean | null;
            /** @description Text, or list of texts, before which the reply ends. */
            readonly stop?: string | readonly string[] | null;
            readonly presence_penalty?: number | null;
            readonly frequency_penalty?: number | null;
            readonly logit_bias?: Record<string, never> | null;
            readonly seed?: number | null;
            /** @description Id of the end user, chosen by the client; passed to the vendor. */
            readonly user?: string | null;
            /** @description Service tier. A tier with another price is removed and named in `x-tollgate-dropped`. */
            readonly service_tier?: unknown;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        readonly Completion: {
            readonly id: string;
            /** @constant */
            readonly object: "text_completion";
            readonly created: number;
            readonly model: string;
            readonly choices: readonly {
                readonly text: string;
                readonly index: number;
                readonly finish_reason: string | null;
                readonly logprobs?: Record<string, never> | null;
            }[];
            readonly usage?: components["schemas"]["ChatUsage"];
        };
        /** @description Data of one event. A stream ends with `data: [DONE]`. */
        readonly CompletionChunk: {
            readonly id: string;
            /** @constant */
            readonly object: "text_completion";
            readonly created: number;
            readonly model: string;
            readonly choices: readonly {
                readonly text: string;
                readonly index: number;
                readonly finish_reason?: string | null;
            }[];
            readonly usage?: components["schemas"]["ChatUsage"] | null;
        };
        readonly ResponseItem: {
            /** @enum {string} */
            readonly role: "user" | "assistant" | "system" | "developer";
            readonly content: string | readonly {
                readonly type: string;
            }[];
            /** @constant */
            readonly type?: "message";
        } | {
            /** @enum {string} */
            readonly type: "function_call_output" | "custom_tool_call_output";
            readonly call_id: string;
            readonly output: string | readonly {
                readonly type: string;
            }[];
        } | {
            readonly type: string;
        };
        /** @description Fields that are not described here are passed unchanged to vendors of this format. */
        readonly ResponseRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /** @description A text, or a list of items. */
            readonly input?: string | readonly components["schemas"]["ResponseItem"][] | null;
            /** @description `true`: stream the reply as server-sent events. */
            readonly stream?: boolean | null;
            /** @description Options of a stream; only with `stream: true`. */
            readonly stream_options?: Record<string, never> | null;
            /** @description `true`: reply at once, and make the response in the background, to be read by its id. */
            readonly background?: boolean | null;
            /** @description `false`: the response is not kept. */
            readonly store?: boolean | null;
            readonly instructions?: string | null;
            /** @description Id of the previous response; its conversation precedes the new input. */
            readonly previous_response_id?: string | null;
            /** @description Most tokens of the reply; 0 counts as no limit. */
            readonly max_output_tokens?: number | null;
            readonly max_tool_calls?: number | null;
            /** @description Sampling temperature: higher values make the text more random. */
            readonly temperature?: number | null;
            /** @description Nucleus sampling: only the most likely tokens whose probabilities add up to this share are considered. */
            readonly top_p?: number | null;
            readonly top_logprobs?: number | null;
            readonly tools?: readonly {
                readonly type: string;
            }[] | null;
            readonly tool_choice?: string | Record<string, never> | null;
            readonly parallel_tool_calls?: boolean | null;
            /** @description Reasoning: how much of it (`effort`), and whether a summary is returned (`summary`). */
            readonly reasoning?: Record<string, never> | null;
            /** @description Form of the text output (`format`). */
            readonly text?: Record<string, never> | null;
            readonly metadata?: Record<string, never> | null;
            /** @description Id of the end user, chosen by the client; passed to the vendor. */
            readonly user?: string | null;
            /** @description Service tier. A tier with another price is removed and named in `x-tollgate-dropped`. */
            readonly service_tier?: unknown;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        readonly ResponseCountRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model?: string | null;
            /** @description A text, or a list of items. */
            readonly input?: string | readonly components["schemas"]["ResponseItem"][] | null;
            readonly instructions?: string | null;
            /** @description Id of the previous response; its conversation precedes the new input. */
            readonly previous_response_id?: string | null;
            readonly tools?: readonly {
                readonly type: string;
            }[] | null;
            /** @description Form of the text output (`format`). */
            readonly text?: Record<string, never> | null;
            /** @description Reasoning: how much of it (`effort`), and whether a summary is returned (`summary`). */
            readonly reasoning?: Record<string, never> | null;
        };
        readonly ResponseCompactRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /** @description A text, or a list of items. */
            readonly input?: string | readonly components["schemas"]["ResponseItem"][] | null;
            readonly instructions?: string | null;
            readonly previous_response_id?: string | null;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        readonly ResponseUsage: {
            readonly input_tokens: number;
            readonly output_tokens: number;
            readonly total_tokens: number;
            readonly input_tokens_details?: Record<string, never>;
            readonly output_tokens_details?: Record<string, never>;
            readonly cost?: string;
        };
        readonly Response: {
            readonly id: string;
            /** @constant */
            readonly object: "response";
            readonly created_at: number;
            readonly model: string;
            /** @enum {string} */
            readonly status: "completed" | "failed" | "in_progress" | "cancelled" | "queued" | "incomplete";
            readonly output: readonly {
                readonly type: string;
            }[];
            readonly error?: Record<string, never> | null;
            readonly incomplete_details?: Record<string, never> | null;
            readonly usage?: components["schemas"]["ResponseUsage"] | null;
            readonly metadata?: Record<string, never> | null;
            readonly previous_response_id?: string | null;
        };
        /** @description Data of one event, whose name is its `type`. The last event is `response.completed`, `response.incomplete` or `response.failed`. */
        readonly ResponseEvent: {
            readonly type: string;
            readonly sequence_number: number;
            readonly response?: components["schemas"]["Response"];
        };
        readonly ResponseCompaction: {
            /** @constant */
            readonly object: "response.compaction";
            readonly output: readonly {
                readonly type: string;
            }[];
            readonly id?: string;
            readonly created_at?: number;
            readonly usage?: components["schemas"]["ResponseUsage"];
        };
        readonly MessageBlock: {
            /** @constant */
            readonly type: "text";
            readonly text: string;
        } | {
            /** @constant */
            readonly type: "image";
            readonly source: Record<string, never>;
        } | {
            /** @constant */
            readonly type: "document";
            readonly source: Record<string, never>;
        } | {
            /** @constant */
            readonly type: "tool_use";
            readonly id: string;
            readonly name: string;
            readonly input: Record<string, never>;
        } | {
            /** @constant */
            readonly type: "tool_result";
            readonly tool_use_id: string;
            readonly content?: string | readonly {
                readonly type: string;
            }[] | null;
        } | {
            readonly type: string;
        };
        readonly MessageTurn: {
            /** @enum {string} */
            readonly role: "user" | "assistant" | "system";
            readonly content: string | readonly components["schemas"]["MessageBlock"][];
        };
        /** @description Fields that are not described here are passed unchanged to vendors of this format. */
        readonly MessageRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /** @description Most tokens of the reply. */
            readonly max_tokens: number;
            /** @description The conversation so far, oldest message first. */
            readonly messages: readonly components["schemas"]["MessageTurn"][];
            /** @description System prompt: a text, or a list of text blocks. */
            readonly system?: string | readonly unknown[] | null;
            readonly tools?: readonly Record<string, never>[] | null;
            readonly tool_choice?: {
                readonly type: string;
            } | null;
            readonly thinking?: {
                readonly type: string;
            } | null;
            readonly output_config?: Record<string, never> | null;
            /** @description `true`: stream the reply as server-sent events. */
            readonly stream?: boolean | null;
            readonly stop_sequences?: readonly string[] | null;
            readonly temperature?: number | null;
            readonly top_p?: number | null;
            readonly top_k?: number | null;
            readonly metadata?: Record<string, never> | null;
            readonly service_tier?: string | null;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        readonly MessageCountRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /** @description The conversation so far, oldest message first. */
            readonly messages: readonly components["schemas"]["MessageTurn"][];
            /** @description System prompt: a text, or a list of text blocks. */
            readonly system?: string | readonly unknown[] | null;
            readonly tools?: readonly Record<string, never>[] | null;
            readonly tool_choice?: {
                readonly type: string;
            } | null;
            readonly thinking?: {
                readonly type: string;
            } | null;
            readonly output_config?: Record<string, never> | null;
        };
        readonly Message: {
            readonly id: string;
            /** @constant */
            readonly type: "message";
            /** @constant */
            readonly role: "assistant";
            readonly model: string;
            readonly content: readonly {
                readonly type: string;
            }[];
            readonly stop_reason: string | null;
            readonly usage: {
                readonly input_tokens: number;
                readonly output_tokens: number;
                readonly cost?: string;
            };
            readonly stop_sequence?: string | null;
        };
        /** @description Data of one event, whose name is its `type`. A complete stream ends with `message_stop`; a broken one ends with `error`. */
        readonly MessageEvent: {
            /** @enum {string} */
            readonly type: "message_start" | "content_block_start" | "content_block_delta" | "content_block_stop" | "message_delta" | "message_stop" | "ping" | "error";
            readonly message?: components["schemas"]["Message"];
            readonly index?: number;
            readonly delta?: Record<string, never>;
            readonly usage?: Record<string, never>;
            readonly content_block?: Record<string, never>;
            readonly error?: Record<string, never>;
        };
        readonly GeminiContent: {
            /** @description Author: `user`, `model` or `function`. */
            readonly role?: string | null;
            /** @description A single part needs no list. */
            readonly parts?: readonly {
                readonly text?: string | null;
                readonly inlineData?: Record<string, never>;
                readonly fileData?: Record<string, never>;
                readonly functionCall?: Record<string, never>;
                readonly functionResponse?: Record<string, never>;
            }[] | Record<string, never> | null;
        };
        /** @description Field names may also be in `snake_case`. Fields that are not described here are passed unchanged to vendors of this format. */
        readonly GeminiRequest: {
            /** @description The conversation so far, oldest message first. A single one needs no list. */
            readonly contents: readonly components["schemas"]["GeminiContent"][] | components["schemas"]["GeminiContent"];
            /** @description Content with the system prompt. */
            readonly systemInstruction?: unknown;
            readonly generationConfig?: {
                readonly maxOutputTokens?: number | string | null;
                readonly candidateCount?: number | string | null;
                readonly temperature?: number | null;
                readonly topP?: number | null;
                readonly topK?: number | null;
                readonly stopSequences?: readonly string[] | string | null;
                readonly seed?: number | null;
                readonly responseMimeType?: string | null;
                readonly responseSchema?: Record<string, never> | null;
                readonly responseJsonSchema?: unknown;
                readonly thinkingConfig?: Record<string, never> | null;
            } | null;
            /** @description Functions the model may call. A single object needs no list. */
            readonly tools?: readonly Record<string, never>[] | Record<string, never> | null;
            /** @description Which functions the model may or must call. */
            readonly toolConfig?: unknown;
            /** @description Safety settings; only for Google’s own models. */
            readonly safetySettings?: unknown;
            /** @description Service tier. A tier with another price is removed and named in `x-tollgate-dropped`. */
            readonly serviceTier?: unknown;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        readonly GeminiReply: {
            readonly candidates?: readonly {
                readonly content?: {
                    readonly role?: string;
                    readonly parts?: readonly Record<string, never>[];
                };
                readonly finishReason?: string;
                readonly index?: number;
            }[];
            readonly usageMetadata?: {
                readonly promptTokenCount?: number;
                readonly candidatesTokenCount?: number;
                readonly totalTokenCount?: number;
            };
            readonly modelVersion?: string;
            readonly responseId?: string;
        };
        readonly GeminiEmbedRequest: {
            readonly content: {
                readonly parts: readonly {
                    readonly text: string;
                }[] | {
                    readonly text: string;
                };
            };
            /** @description Name of the model; the address decides. */
            readonly model?: unknown;
            /** @description Purpose of the embedding: `RETRIEVAL_QUERY` or `RETRIEVAL_DOCUMENT`; any other is removed. */
            readonly taskType?: unknown;
            readonly outputDimensionality?: number | null;
        };
        readonly GeminiVector: {
            readonly values: readonly number[];
        };
        readonly GeminiModel: {
            readonly name: string;
            readonly displayName: string;
            readonly supportedGenerationMethods: readonly string[];
            readonly version?: string;
            readonly description?: string;
            readonly inputTokenLimit?: number;
            readonly outputTokenLimit?: number;
        };
        /** @description Fields that are not described here are passed to the vendor unchanged. */
        readonly EmbeddingRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /** @description A text, a list of texts, a list of token ids, or a list of such lists; none may be empty. */
            readonly input: string | readonly string[] | readonly number[] | readonly (readonly number[])[];
            /** @enum {string|null} */
            readonly encoding_format?: "float" | "base64" | null;
            readonly dimensions?: number | null;
            /** @description Id of the end user, chosen by the client; passed to the vendor. */
            readonly user?: string | null;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        readonly Embeddings: {
            /** @constant */
            readonly object: "list";
            readonly model: string;
            readonly data: readonly {
                /** @constant */
                readonly object: "embedding";
                readonly index: number;
                readonly embedding: readonly number[] | string;
            }[];
            readonly usage?: {
                readonly prompt_tokens: number;
                readonly total_tokens: number;
                readonly cost?: string;
            };
        };
        readonly RankingRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            readonly query: string;
            readonly documents: readonly (string | Record<string, never>)[];
            readonly top_n?: number | null;
            readonly return_documents?: boolean | null;
            readonly max_tokens_per_doc?: number | null;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        readonly Ranking: {
            readonly results: readonly {
                readonly index: number;
                readonly relevance_score: number;
                readonly document?: unknown;
            }[];
            readonly id?: string;
            readonly model?: string;
            readonly usage?: Record<string, never>;
            readonly meta?: Record<string, never>;
        };
        readonly ScoreRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            readonly text_1: string | readonly string[];
            readonly text_2: string | readonly (string | Record<string, never>)[];
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        readonly Scores: {
            readonly id: string;
            /** @constant */
            readonly object: "list";
            readonly created: number;
            readonly model: string;
            readonly data: readonly {
                readonly index: number;
                /** @constant */
                readonly object: "score";
                readonly score: number;
            }[];
            readonly usage?: Record<string, never>;
        };
        /** @description Fields that are not described here are passed to the vendor unchanged. */
        readonly ModerationRequest: {
            readonly input: string | readonly string[] | readonly (components["schemas"]["ChatText"] | {
                /** @constant */
                readonly type: "image_url";
                readonly image_url: {
                    readonly url: string;
                };
            })[];
            /** @description Name of the model; `omni-moderation-latest` by default. */
            readonly model?: string | null;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        /** @description Fields that are not described here are passed to the vendor unchanged. */
        readonly ImageRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /** @description Description of the image to make. */
            readonly prompt: string;
            /** @description Number of images to make. */
            readonly n?: number | null;
            /** @description Size that the model supports, such as `1024x1024`, or `auto`. */
            readonly size?: string | null;
            /** @enum {string|null} */
            readonly response_format?: "url" | "b64_json" | null;
            /** @description Id of the end user, chosen by the client; passed to the vendor. */
            readonly user?: string | null;
            readonly quality?: string | null;
            /** @enum {string|null} */
            readonly background?: "transparent" | "opaque" | "auto" | null;
            /** @enum {string|null} */
            readonly output_format?: "png" | "jpeg" | "webp" | "gif" | "svg" | null;
            readonly output_compression?: number | null;
            /** @enum {string|null} */
            readonly moderation?: "low" | "auto" | null;
            /** @description `true`: stream the reply as server-sent events. */
            readonly stream?: boolean | null;
            /** @description Number of partial images that a stream sends before each final image. */
            readonly partial_images?: number | null;
            readonly safety_identifier?: string | null;
            /** @enum {string|null} */
            readonly style?: "vivid" | "natural" | null;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        readonly ImageEditRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /** @description Description of the image to make. */
            readonly prompt: string;
            readonly images: readonly components["schemas"]["ImageReference"][];
            readonly mask?: components["schemas"]["ImageReference"] | null;
            /** @description Number of images to make. */
            readonly n?: number | null;
            /** @description Size that the model supports, such as `1024x1024`, or `auto`. */
            readonly size?: string | null;
            /** @enum {string|null} */
            readonly response_format?: "url" | "b64_json" | null;
            /** @description Id of the end user, chosen by the client; passed to the vendor. */
            readonly user?: string | null;
            readonly quality?: string | null;
            /** @enum {string|null} */
            readonly background?: "transparent" | "opaque" | "auto" | null;
            /** @enum {string|null} */
            readonly output_format?: "png" | "jpeg" | "webp" | "gif" | "svg" | null;
            readonly output_compression?: number | null;
            /** @enum {string|null} */
            readonly moderation?: "low" | "auto" | null;
            /** @description `true`: stream the reply as server-sent events. */
            readonly stream?: boolean | null;
            /** @description Number of partial images that a stream sends before each final image. */
            readonly partial_images?: number | null;
            readonly safety_identifier?: string | null;
            /** @enum {string|null} */
            readonly input_fidelity?: "high" | "low" | null;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        readonly ImageReference: {
            readonly image_url: string;
        };
        readonly ImageEditForm: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /** @description Description of the image to make. */
            readonly prompt: string;
            /** @description Up to 16 image files (PNG, JPEG, WebP or GIF), as `image`, `image[]` or `image[0]`. */
            readonly image: string | readonly string[];
            /** Format: binary */
            readonly mask?: string;
            /** @description Number of images to make. */
            readonly n?: number;
            /** @description Size that the model supports, such as `1024x1024`, or `auto`. */
            readonly size?: string;
            /** @enum {string} */
            readonly response_format?: "url" | "b64_json";
            /** @description Id of the end user, chosen by the client; passed to the vendor. */
            readonly user?: string;
            readonly quality?: string;
            /** @enum {string} */
            readonly background?: "transparent" | "opaque" | "auto";
            /** @enum {string} */
            readonly output_format?: "png" | "jpeg" | "webp" | "gif" | "svg";
            readonly output_compression?: number;
            /** @enum {string} */
            readonly moderation?: "low" | "auto";
            /** @description `true`: stream the reply as server-sent events. */
            readonly stream?: boolean;
            /** @description Number of partial images that a stream sends before each final image. */
            readonly partial_images?: number;
            readonly safety_identifier?: string;
            /** @enum {string} */
            readonly input_fidelity?: "high" | "low";
        };
        readonly ImageVariationForm: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /**
             * Format: binary
             * @description Image file: PNG, JPEG, WebP or GIF.
             */
            readonly image: string;
            /** @description Number of images to make. */
            readonly n?: number;
            /** @description Size that the model supports, such as `1024x1024`, or `auto`. */
            readonly size?: string;
            /** @enum {string} */
            readonly response_format?: "url" | "b64_json";
            /** @description Id of the end user, chosen by the client; passed to the vendor. */
            readonly user?: string;
        };
        readonly Images: {
            readonly created: number;
            readonly data: readonly {
                readonly url?: string;
                readonly b64_json?: string;
                readonly revised_prompt?: string | null;
            }[];
            readonly usage?: Record<string, never>;
            readonly size?: string;
            readonly quality?: string;
            readonly background?: string;
            readonly output_format?: string;
        };
        /** @description Data of one event: `image_generation.partial_image`, `image_generation.completed`, the same with `image_edit`, or `error`. */
        readonly ImageEvent: {
            readonly type: string;
            readonly b64_json?: string;
            readonly partial_image_index?: number;
            readonly usage?: Record<string, never>;
            readonly error?: Record<string, never>;
        };
        /** @description Fields that are not described here are passed to the vendor unchanged. */
        readonly SpeechRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /** @description Text to speak: at most 4,096 characters for OpenAI’s models, 100,000 for others. */
            readonly input: string;
            /** @description Name of a voice, or a custom voice by its id. */
            readonly voice: string | {
                readonly id: string;
            };
            /** @description How to speak the text. */
            readonly instructions?: string | null;
            /** @enum {string|null} */
            readonly response_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm" | null;
            readonly speed?: number | null;
            /** @enum {string|null} */
            readonly stream_format?: "audio" | "sse" | null;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        /** @description Data of one event. */
        readonly SpeechEvent: {
            /** @enum {string} */
            readonly type: "speech.audio.delta" | "speech.audio.done" | "error";
            /** @description Audio data in base64. */
            readonly audio?: string;
            readonly usage?: Record<string, never>;
            readonly error?: Record<string, never>;
        };
        readonly TranscriptionForm: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /**
             * Format: binary
             * @description Sound file: flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm.
             */
            readonly file: string;
            readonly prompt?: string;
            readonly temperature?: number;
            /** @description `true`: stream the reply as server-sent events. */
            readonly stream?: boolean;
            readonly language?: string;
            readonly languages?: readonly string[];
            readonly keywords?: readonly string[];
            /** @enum {string} */
            readonly response_format?: "json" | "text" | "srt" | "verbose_json" | "vtt" | "diarized_json";
            /** @description Additional contents of the reply; only with the response format `json`. */
            readonly include?: readonly "logprobs"[];
            /** @description Units that get time stamps; only with the response format `verbose_json`. */
            readonly timestamp_granularities?: readonly ("word" | "segment")[];
            readonly chunking_strategy?: "auto" | {
                /** @constant */
                readonly type: "server_vad";
            };
            readonly known_speaker_names?: readonly string[];
            /** @description Sound samples of known speakers, one for each name. */
            readonly known_speaker_references?: readonly string[];
        };
        readonly TranslationForm: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            /**
             * Format: binary
             * @description Sound file: flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm.
             */
            readonly file: string;
            readonly prompt?: string;
            readonly temperature?: number;
            /** @description `true`: stream the reply as server-sent events. */
            readonly stream?: boolean;
            /** @enum {string} */
            readonly response_format?: "json" | "text" | "srt" | "verbose_json" | "vtt";
        };
        readonly Transcript: {
            readonly text: string;
            readonly language?: string;
            readonly duration?: number;
            readonly segments?: readonly Record<string, never>[];
            readonly words?: readonly Record<string, never>[];
            readonly usage?: Record<string, never>;
        };
        /** @description Data of one event: `transcript.text.delta`, `transcript.text.segment`, `transcript.text.done` or `error`. */
        readonly TranscriptEvent: {
            readonly type: string;
            readonly delta?: string;
            readonly text?: string;
            readonly usage?: Record<string, never>;
            readonly error?: Record<string, never>;
        };
        /** @description Fields that are not described here are passed to the vendor unchanged. */
        readonly VideoRequest: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            readonly prompt: string;
            /** @description Length in whole seconds that the model supports, such as `"4"`. */
            readonly seconds?: string | null;
            /** @description Size that the model supports, such as `1280x720`. */
            readonly size?: string | null;
            /** @description Image with which the video begins. */
            readonly input_reference?: {
                readonly image_url: string;
            } | null;
            /** @description Most that the request may cost, in units of the currency. Read by the gateway and not sent to the vendor. */
            readonly max_cost?: string | number | null;
        };
        readonly VideoForm: {
            /** @description Name of the model, as in `GET /v1/models`. */
            readonly model: string;
            readonly prompt: string;
            /** @description Length in whole seconds that the model supports, such as `"4"`. */
            readonly seconds?: string;
            /** @description Size that the model supports, such as `1280x720`. */
            readonly size?: string;
            /**
             * Format: binary
             * @description Image with which the video begins.
             */
            readonly input_reference?: string;
        };
        readonly Video: {
            readonly id: string;
            /** @constant */
            readonly object: "video";
            readonly model: string;
            /** @enum {string} */
            readonly status: "queued" | "in_progress" | "completed" | "failed";
            readonly progress: number;
            readonly created_at: number;
            readonly completed_at: number | null;
            readonly expires_at: number | null;
            readonly prompt: string;
            readonly size: string;
            readonly seconds: string;
            readonly remixed_from_video_id: string | null;
            readonly error: {
                readonly code: string;
                readonly message: string;
            } | null;
        };
        readonly ServedModel: {
            readonly id: string;
            /** @constant */
            readonly object: "model";
            readonly created: number;
            readonly owned_by: string;
            readonly context_window?: number;
        };
        readonly ServedModelList: {
            /** @constant */
            readonly object: "list";
            readonly data: readonly components["schemas"]["ServedModel"][];
            /** @description The same models in the form that Codex reads. */
            readonly models?: readonly {
                readonly slug: string;
            }[];
        };
        readonly AnthropicModel: {
            /** @constant */
            readonly type: "model";
            readonly id: string;
            readonly display_name: string;
            readonly created_at: string;
            readonly max_input_tokens?: number | null;
            readonly max_tokens?: number | null;
        };
        readonly AnthropicModelList: {
            readonly data: readonly components["schemas"]["AnthropicModel"][];
            readonly has_more: boolean;
            readonly first_id: string | null;
            readonly last_id: string | null;
        };
        readonly KeyUsageRow: {
            readonly requestId: string;
            /** Format: date-time */
            readonly at: string;
            readonly account: string;
            readonly key: string | null;
            readonly group: string;
            readonly operation: string;
            readonly model: string;
            readonly modelServed: string | null;
            readonly attempts: number;
            readonly stream: boolean;
            readonly status: number;
            /** @description Number of tokens by kind. */
            readonly tokens: {
                readonly [key: string]: number;
            };
            readonly usageSource: string;
            /** @description Decimal amount in the currency. */
            readonly cost: string;
            /** @description How the cost was computed, with its numbers; null: the request was not priced. */
            readonly formula: string | null;
            /** @description Amount that the account paid, in nano-units (billionths of the currency’s unit). */
            readonly chargeNano: string;
            /** @description Amount that the account could not pay and that was written off, in nano-units. */
            readonly writeoffNano: string;
            readonly priceVersion: number | null;
            readonly multiplier: string;
            readonly ttftMs: number | null;
            readonly durationMs: number;
            readonly errorCode: string | null;
            readonly keyName?: string | null;
            readonly units?: Record<string, never> | null;
            readonly clientAddress?: string;
            readonly clientRequestId?: string;
            readonly traceId?: string;
            readonly tag?: string;
        };
        readonly Readiness: {
            /** @enum {string} */
            readonly status: "ok" | "unavailable";
            readonly version: string;
            readonly uptimeSeconds: number;
            readonly missing: readonly string[];
            readonly components: {
                readonly [key: string]: {
                    /** @enum {string} */
                    readonly status: "ok" | "unavailable";
                    readonly reason?: string;
                };
            };
            readonly warnings?: readonly string[];
        };
        readonly Account: {
            /** @description Id of the account */
            readonly account: string;
            /** @description Currency of the amounts */
            readonly currency: string;
            /** @description Nano-units that new requests may spend: `postedNano` less `heldNano` */
            readonly availableNano: string;
            /** @description Nano-units that are held for running requests */
            readonly heldNano: string;
            /** @description Balance of the wallet in the journal, in nano-units, holds included */
            readonly postedNano: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly createdAt: string;
        };
        readonly Problem: {
            /** @description URN of `code` */
            readonly type: string;
            /** @description Meaning of `code` */
            readonly title: string;
            /** @description HTTP status */
            readonly status: number;
            /** @description Explanation for people, in English */
            readonly detail: string;
            /** @enum {string} */
            readonly code: "invalid" | "unauthenticated" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "stale" | "too_large" | "unsupported_media_type" | "key_reused" | "limited" | "internal" | "unavailable";
            /** @description Field of the body, the query or the path at fault, or a header */
            readonly field?: string;
            /**
             * @description Cause of the refusal, for programs that show texts of their own
             * @enum {string}
             */
            readonly reason?: "balance_left" | "built_in" | "changed_meanwhile" | "code_expired" | "code_revoked" | "code_unknown" | "code_used" | "day_not_over" | "disputed" | "in_configuration_file" | "in_use" | "invitation_used" | "key_disabled" | "last_admin" | "last_identity" | "mail_code_wrong" | "name_taken" | "no_mail_server" | "not_paid" | "order_closed" | "provider_unreachable" | "range_too_long" | "refund_held" | "refund_too_large" | "sign_in_again";
            /** @description Id under which the log has the request */
            readonly requestId: string;
        };
        readonly AccountBalance: {
            /** @description Id of the account */
            readonly account: string;
            /** @description Currency of the amounts */
            readonly currency: string;
            /** @description Nano-units that new requests may spend: `postedNano` less `heldNano` */
            readonly availableNano: string;
            /** @description Nano-units that are held for running requests */
            readonly heldNano: string;
            /** @description Balance of the wallet in the journal, in nano-units, holds included */
            readonly postedNano: string;
        };
        readonly Adjustment: {
            /** @description Id of the account */
            readonly account: string;
            /** @description Currency of the amounts */
            readonly currency: string;
            /** @description Nano-units that new requests may spend: `postedNano` less `heldNano` */
            readonly availableNano: string;
            /** @description Nano-units that are held for running requests */
            readonly heldNano: string;
            /** @description Balance of the wallet in the journal, in nano-units, holds included */
            readonly postedNano: string;
            /** @description Id of the journal entry */
            readonly id: string;
            /** @description Whether this request posted the entry; false: the same adjustment was posted before, and nothing has changed */
            readonly posted: boolean;
            /** @description Amount of the adjustment in nano-units; negative for a debit */
            readonly amountNano: string;
        };
        readonly Alerts: {
            /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
            readonly lowBalanceNano: string | null;
            /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
            readonly daySpendNano: string | null;
            readonly timeZone: string;
            readonly keyLimitPercent: number | null;
            readonly errorRatePercent: number | null;
            readonly webhook: string | null;
            /** @description Secret that signs the posts to `webhook`; present only in the reply to the request that created it, else null */
            readonly webhookSecret: string | null;
            readonly email: string | null;
            /** @description Whether `email` is verified; until then only the verification code is mailed to it */
            readonly emailVerified: boolean;
            /** @description Verified e-mail address with which the person signs in, usable as `email` without a code; null: none */
            readonly accountEmail: string | null;
            /** @description Whether the deployment has a mail server; without one, `email` cannot be set */
            readonly mailOffered: boolean;
            readonly currency: string;
            /** @description Revision of the settings, to be sent in If-Match; 0: they were never set */
            readonly revision: number;
        };
        readonly AlertNotice: {
            readonly id: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly readAt: string | null;
            /** @enum {string} */
            readonly rule: "low_balance" | "day_spend" | "key_limit" | "error_rate" | "order_late" | "order_refunded" | "top_up_stopped";
            /** @description Message for people, in English */
            readonly text: string;
            readonly currency: string;
            /** @description Threshold that was set, in nano-units; null: the rule has no amount */
            readonly limitNano: string | null;
            /** @description Amount that crossed the threshold, in nano-units; null: the rule has no amount */
            readonly valueNano: string | null;
            /** @description Threshold that was set, in percent; null: the rule has no percentage */
            readonly limitPercent: number | null;
            /** @description Percentage that crossed the threshold; null: the rule has no percentage */
            readonly valuePercent: number | null;
            readonly keyId: string | null;
            readonly keyName: string | null;
            /** @description Number of requests behind `valuePercent`; null: the rule does not count requests */
            readonly requests: number | null;
            /** @description Order that the notice is about; null: none */
            readonly orderId: string | null;
            /** @description Delivery to the webhook; null: no webhook was set */
            readonly delivery: {
                /** @enum {string} */
                readonly state: "waiting" | "delivered" | "failed";
                readonly attempts: number;
                readonly failure: string | null;
            } | null;
            /** @description Delivery by e-mail; null: no verified address was set */
            readonly mail: {
                /** @enum {string} */
                readonly state: "waiting" | "delivered" | "failed";
                readonly attempts: number;
                readonly failure: string | null;
            } | null;
        };
        readonly AutoTopUp: {
            readonly account: string;
            /** @description Payment provider that makes the payments; null: none of this deployment supports it */
            readonly provider: string | null;
            /** @description Payment method by which the payer agrees to automatic payments when paying an order; null: none */
            readonly agreeMethod: string | null;
            /** @description Whether an order of this account was paid by `agreeMethod` */
            readonly isAgreed: boolean;
            /** @description Currency of `thresholdNano` */
            readonly currency: string;
            /** @description Currency of `amount`, `monthMost` and `monthSpent`; null: no provider */
            readonly providerCurrency: string | null;
            /**
             * @description `off`: no rule is set. `stopped`: a payment was refused, and nothing is paid until the rule is set again
             * @enum {string}
             */
            readonly state: "off" | "on" | "stopped";
            /** @description Why it is stopped; null: it is not */
            readonly problem: string | null;
            /** @description Balance in nano-units below which a payment is made; null: no rule is set */
            readonly thresholdNano: string | null;
            /** @description Amount of one payment, such as `20.00` */
            readonly amount: string | null;
            /** @description Most that is paid in one calendar month in UTC, such as `100.00` */
            readonly monthMost: string | null;
            /** @description Amount that was ordered automatically in this calendar month in UTC */
            readonly monthSpent: string;
            /** @description Revision of the rule, to be sent in If-Match; 0: no rule is set */
            readonly revision: number;
        };
        readonly Channel: {
            readonly id: string;
            readonly vendor: string;
            /** @description Address of the vendor; null: the vendor’s usual one */
            readonly baseUrl: string | null;
            /** @description Format in which the vendor is asked; null: chosen by vendor and operation */
            readonly dialect: string | null;
            /** @description The vendor’s name of each model by its public name; null: all models of the vendor in the shipped catalogue */
            readonly models: {
                readonly [key: string]: string;
            } | null;
            /** @description Groups that it serves; null: every group */
            readonly groups: readonly string[] | null;
            readonly priority: number;
            /** @description Share of requests among channels of equal priority */
            readonly weight: number;
            /**
             * @description Where the channel in force is defined
             * @enum {string}
             */
            readonly origin: "file" | "environment" | "built-in" | "stored";
            /** @description Path of the configuration file; null: `origin` is not `file` */
            readonly declaredIn: string | null;
            /**
             * @description State in the process that answers; `open`: it gets no requests at present
             * @enum {string}
             */
            readonly state: "ok" | "degraded" | "open" | "draining" | "disabled";
            /** @description The section of the configuration file, with every default; `***` stands for a secret */
            readonly document: {
                readonly [key: string]: unknown;
            };
            readonly keys: readonly {
                readonly name: string;
                /** @description Last four characters of the key; empty for a short key */
                readonly hint: string;
                /**
                 * @description `cooling`: at its rate limit or quota. `refused`: the vendor rejected it
                 * @enum {string}
                 */
                readonly state: "in use" | "cooling" | "refused" | "disabled";
                /**
                 * Format: date-time
                 * @description When the state began; null: it is in use or disabled
                 */
                readonly since: string | null;
            }[];
            readonly tags: readonly string[];
            /**
             * @description Why the channel, or a model of it, gets no requests at present; `failing`: it gets requests, but failed recently; null: it works
             * @enum {string|null}
             */
            readonly reason: "breaker" | "rate_limited" | "quota" | "credentials" | "busy" | "failing" | null;
            /**
             * Format: date-time
             * @description Since when `reason` applies
             */
            readonly since: string | null;
            /** @description Number of running requests in the process that answers */
            readonly inFlight: number;
            readonly requestsPerMinute: components["schemas"]["ChannelLimit"];
            readonly tokensPerMinute: components["schemas"]["ChannelLimit"];
            /** @description Whether the store has a channel of the same id too, which is not used since the configuration takes precedence */
            readonly overridden: boolean;
            /** @description Why the stored channel is not used; null: it is, or none is stored */
            readonly problem: string | null;
            /** @description Revision of the stored channel, to be sent in If-Match; 0: none is stored */
            readonly revision: number;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly changedAt: string | null;
            /** @description Who changed the stored channel last */
            readonly actor: string | null;
            /** @description Latest test of the last seven days; null: there was none */
            readonly lastTest: {
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly at: string;
                readonly ok: boolean;
                readonly model: string | null;
                readonly durationMs: number;
            } | null;
            /** @description Whether the vendor reports the remaining balance of a channel’s key */
            readonly offersBalance: boolean;
            readonly balance: components["schemas"]["ChannelBalance"];
            readonly currency: string;
            /** @description The last hour, in whole quarters of an hour */
            readonly hour: {
                readonly requests: number;
                /** @description Percentage of the requests that succeeded; null: there were none */
                readonly successPercent: number | null;
                /** @description 95th percentile of the duration in ms; null: there were no requests */
                readonly p95Ms: number | null;
                /** @description Charges to accounts, in nano-units */
                readonly chargeNano: string;
                /** @description Cost at the vendor, in nano-units */
                readonly vendorCostNano: string;
            };
            /** @description The last 24 hours, in whole quarters of an hour */
            readonly day: {
                readonly requests: number;
                /** @description Percentage of the requests that succeeded; null: there were none */
                readonly successPercent: number | null;
                /** @description 95th percentile of the duration in ms; null: there were no requests */
                readonly p95Ms: number | null;
                /** @description Charges to accounts, in nano-units */
                readonly chargeNano: string;
                /** @description Cost at the vendor, in nano-units */
                readonly vendorCostNano: string;
            };
            /** @description The four quarters of an hour that `hour` sums up, oldest first */
            readonly quarters: readonly {
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly since: string;
                readonly requests: number;
                readonly successPercent: number | null;
            }[];
        };
        /** @description Use of a limit per minute, in all processes where Valkey shares limits, else in the process that answers; null: no limit */
        readonly ChannelLimit: {
            readonly used: number;
            readonly most: number;
        } | null;
        /** @description Latest balance that was reported in the last seven days; null: none */
        readonly ChannelBalance: {
            /**
             * Format: date-time
             * @description When the vendor was asked
             */
            readonly at: string;
            readonly amounts: readonly {
                /** @description Remaining balance as a decimal in `currency` */
                readonly amount: string;
                /** @description Currency of `amount`; null: the vendor names none */
                readonly currency: string | null;
            }[];
        } | null;
        readonly ChannelInput: {
            /** @description Unique name of the channel, other than export. */
            readonly id: string;
            /** @description Vendor of the channel, such as openai, deepseek or ollama; openai-compatible for any other with OpenAI's format. */
            readonly vendor: string;
            /** @description Address of the vendor's API, up to where the vendor's own paths begin; left out: the vendor's usual address. */
            readonly baseUrl?: string | null;
            /** @description API key for the vendor. */
            readonly key?: string | null;
            /** @description Several API keys in place of `key`; requests are spread over those that work. Default: []. */
            readonly keys?: readonly {
                /** @description Name of the key, unique within its channel. */
                readonly name: string;
                /** @description API key for the vendor. */
                readonly key: string;
                /** @description Whether the key is not used. Default: false. */
                readonly disabled?: boolean | null;
            }[] | null;
            /** @description Models served: a list of names, or a map of public names to the vendor's names; left out: the vendor's models in the built-in catalogue. */
            readonly models?: (readonly string[] | {
                readonly [key: string]: string;
            }) | null;
            /** @description Groups whose keys the channel serves; left out: all groups. */
            readonly groups?: readonly string[] | null;
            /** @description Rank in routing: channels with the lowest number are tried first. Default: 0. */
            readonly priority?: number | null;
            /** @description Share of requests among channels of equal priority; 0: tried after all other channels, whatever their priority. Default: 1. */
            readonly weight?: number | null;
            /** @description Whether the channel takes no requests, whatever `state` says. Default: false. */
            readonly disabled?: boolean | null;
            /** @description Whether the channel takes new requests: draining and disabled take none, and running requests finish. draining marks a temporary stop. Default: "enabled". */
            readonly state?: ("enabled" | "draining" | "disabled") | null;
            /** @description Most concurrent requests with each of the channel's keys, in each serving process; at the limit other channels are used. Left out: no limit. */
            readonly concurrency?: number | null;
            /** @description Rate limits of the channel, for all of its keys together; one left out does not limit. */
            readonly limits?: {
                /** @description Requests per minute; at the limit other channels are used. */
                readonly requestsPerMinute?: number | null;
                /** @description Tokens per minute, input and output together; at the limit other channels are used. */
                readonly tokensPerMinute?: number | null;
            } | null;
            /** @description Factor on the vendor's list prices for what you pay, such as 0.8 for a discount; it changes the recorded vendor cost, not what customers pay. Default: "1". */
            readonly costMultiplier?: string | null;
            /** @description Labels by which operators filter and select channels. Default: []. */
            readonly tags?: readonly string[] | null;
            /** @description Free text for operators. */
            readonly note?: string | null;
            /** @description Whether the client's traceparent and tracestate headers are passed on to the vendor. Default: false. */
            readonly passTrace?: boolean | null;
            /** @description The only wire format used with the vendor, such as openai-chat; left out: any that the vendor supports. */
            readonly dialect?: string | null;
            /** @description Time limits that replace those of the section `timeouts` here; those left out stay the same. */
            readonly timeouts?: {
                /** @description Longest time for the name look-up, the connection and TLS together. */
                readonly connectMs?: number | null;
                /** @description Longest time in which the vendor accepts no byte of the request. */
                readonly sendIdleMs?: number | null;
                /** @description Streams: longest time from sending the request to the first content, tool call, reasoning or finish; comments do not count. */
                readonly firstEventMs?: number | null;
                /** @description Replies that are not streamed: longest time from sending the request to the last byte. */
                readonly replyMs?: number | null;
                /** @description Streams: longest time between two bytes. */
                readonly idleMs?: number | null;
                /** @description Streams: longest time between two events with content; ends a stream that sends only pings. */
                readonly semanticIdleMs?: number | null;
                /** @description Longest time for the whole request, including all attempts and waits for the client. */
                readonly totalMs?: number | null;
            } | null;
            /** @description Headers sent with every call to the vendor; they replace headers of the same name. */
            readonly headers?: {
                readonly [key: string]: string;
            } | null;
            /** @description HTTP proxy through which the vendor is reached: http://HOST:PORT or http://USER:PASSWORD@HOST:PORT. */
            readonly proxy?: string | null;
            /** @description Changes to the body of text requests before they are sent. Field names are the vendor's; a dot leads into an object, as in thinking.type. */
            readonly parameters?: {
                /** @description Fields set in every request, in place of what the client sent. */
                readonly set?: {
                    readonly [key: string]: unknown;
                } | null;
                /** @description Fields removed from every request. */
                readonly remove?: readonly string[] | null;
                /** @description Fields set in requests in which they are missing or null. */
                readonly defaults?: {
                    readonly [key: string]: unknown;
                } | null;
            } | null;
            /** @description Exceptions to the rule for which statuses of the vendor lead to a try on another channel. */
            readonly retryStatuses?: {
                /** @description Further statuses of the vendor (400 to 599) after which another channel is tried. */
                readonly add?: readonly number[] | null;
                /** @description Statuses of the vendor (400 to 599) after which no other channel is tried. */
                readonly remove?: readonly number[] | null;
            } | null;
            /** @description Further settings that the vendor has, as text, such as apiVersion for azure-openai or imageBuckets for bedrock. */
            readonly options?: {
                readonly [key: string]: string;
            } | null;
        };
        readonly Vendor: {
            readonly id: string;
            /** @description Usual address of the vendor; null: a channel must name one */
            readonly baseUrl: string | null;
            /** @description Whether a channel needs a key */
            readonly needsKey: boolean;
            /** @description Formats in which the vendor can be asked */
            readonly dialects: readonly string[];
        };
        readonly ChannelImport: {
            /** @description Whether the channels were stored; false for a preview, and where one is refused */
            readonly applied: boolean;
            readonly channels: readonly {
                readonly id: string;
                /** @enum {string} */
                readonly action: "create" | "update" | "refuse";
                /** @description Why it is refused; null: it is not */
                readonly problem: string | null;
                /** @description Stored channel before the import; null: none is stored, or it is refused */
                readonly before: {
                    readonly [key: string]: unknown;
                } | null;
                /** @description Stored channel after the import; null: it is refused */
                readonly after: {
                    readonly [key: string]: unknown;
                } | null;
            }[];
        };
        readonly ChannelChanges: {
            /** @description Vendor of the channel, such as openai, deepseek or ollama; openai-compatible for any other with OpenAI's format. */
            readonly vendor?: string;
            /** @description Address of the vendor's API, up to where the vendor's own paths begin; left out: the vendor's usual address. */
            readonly baseUrl?: string | null;
            /** @description API key for the vendor. */
            readonly key?: string | null;
            /** @description Models served: a list of names, or a map of public names to the vendor's names; left out: the vendor's models in the built-in catalogue. */
            readonly models?: (readonly string[] | {
                readonly [key: string]: string;
            }) | null;
            /** @description Groups whose keys the channel serves; left out: all groups. */
            readonly groups?: readonly string[] | null;
            /** @description Rank in routing: channels with the lowest number are tried first. Default: 0. */
            readonly priority?: number | null;
            /** @description Share of requests among channels of equal priority; 0: tried after all other channels, whatever their priority. Default: 1. */
            readonly weight?: number | null;
            /** @description Whether the channel takes no requests, whatever `state` says. Default: false. */
            readonly disabled?: boolean | null;
            /** @description Whether the channel takes new requests: draining and disabled take none, and running requests finish. draining marks a temporary stop. Default: "enabled". */
            readonly state?: ("enabled" | "draining" | "disabled") | null;
            /** @description Most concurrent requests with each of the channel's keys, in each serving process; at the limit other channels are used. Left out: no limit. */
            readonly concurrency?: number | null;
            /** @description Rate limits of the channel, for all of its keys together; one left out does not limit. */
            readonly limits?: {
                /** @description Requests per minute; at the limit other channels are used. */
                readonly requestsPerMinute?: number | null;
                /** @description Tokens per minute, input and output together; at the limit other channels are used. */
                readonly tokensPerMinute?: number | null;
            } | null;
            /** @description Factor on the vendor's list prices for what you pay, such as 0.8 for a discount; it changes the recorded vendor cost, not what customers pay. Default: "1". */
            readonly costMultiplier?: string | null;
            /** @description Labels by which operators filter and select channels. Default: []. */
            readonly tags?: readonly string[] | null;
            /** @description Free text for operators. */
            readonly note?: string | null;
            /** @description Whether the client's traceparent and tracestate headers are passed on to the vendor. Default: false. */
            readonly passTrace?: boolean | null;
            /** @description The only wire format used with the vendor, such as openai-chat; left out: any that the vendor supports. */
            readonly dialect?: string | null;
            /** @description Time limits that replace those of the section `timeouts` here; those left out stay the same. */
            readonly timeouts?: {
                /** @description Longest time for the name look-up, the connection and TLS together. */
                readonly connectMs?: number | null;
                /** @description Longest time in which the vendor accepts no byte of the request. */
                readonly sendIdleMs?: number | null;
                /** @description Streams: longest time from sending the request to the first content, tool call, reasoning or finish; comments do not count. */
                readonly firstEventMs?: number | null;
                /** @description Replies that are not streamed: longest time from sending the request to the last byte. */
                readonly replyMs?: number | null;
                /** @description Streams: longest time between two bytes. */
                readonly idleMs?: number | null;
                /** @description Streams: longest time between two events with content; ends a stream that sends only pings. */
                readonly semanticIdleMs?: number | null;
                /** @description Longest time for the whole request, including all attempts and waits for the client. */
                readonly totalMs?: number | null;
            } | null;
            /** @description Headers sent with every call to the vendor; they replace headers of the same name. */
            readonly headers?: {
                readonly [key: string]: string;
            } | null;
            /** @description HTTP proxy through which the vendor is reached: http://HOST:PORT or http://USER:PASSWORD@HOST:PORT. */
            readonly proxy?: string | null;
            /** @description Changes to the body of text requests before they are sent. Field names are the vendor's; a dot leads into an object, as in thinking.type. */
            readonly parameters?: {
                /** @description Fields set in every request, in place of what the client sent. */
                readonly set?: {
                    readonly [key: string]: unknown;
                } | null;
                /** @description Fields removed from every request. */
                readonly remove?: readonly string[] | null;
                /** @description Fields set in requests in which they are missing or null. */
                readonly defaults?: {
                    readonly [key: string]: unknown;
                } | null;
            } | null;
            /** @description Exceptions to the rule for which statuses of the vendor lead to a try on another channel. */
            readonly retryStatuses?: {
                /** @description Further statuses of the vendor (400 to 599) after which another channel is tried. */
                readonly add?: readonly number[] | null;
                /** @description Statuses of the vendor (400 to 599) after which no other channel is tried. */
                readonly remove?: readonly number[] | null;
            } | null;
            /** @description Further settings that the vendor has, as text, such as apiVersion for azure-openai or imageBuckets for bedrock. */
            readonly options?: {
                readonly [key: string]: string;
            } | null;
            /** @description Several API keys in place of `key`; requests are spread over those that work. Default: []. */
            readonly keys?: readonly {
                /** @description Name of the key, unique within its channel. */
                readonly name: string;
                /** @description API key for the vendor. */
                readonly key?: string;
                /** @description Whether the key is not used. Default: false. */
                readonly disabled?: boolean | null;
            }[] | null;
        };
        readonly ConfigurationVersion: {
            readonly version: number;
            /** @description The item in this version; null: it was deleted */
            readonly document: {
                readonly [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly changedAt: string;
            readonly actor: string;
        };
        readonly ChannelTest: {
            readonly ok: boolean;
            readonly model: string | null;
            readonly durationMs: number;
            /** @description Result for people, in English */
            readonly message: string;
            /** @description The request as it was sent and the reply, without secrets, with at most 16 KiB of each body; null: nothing was sent */
            readonly exchange: {
                readonly request: {
                    readonly method: string;
                    readonly address: string;
                    readonly headers: {
                        readonly [key: string]: string;
                    };
                    readonly body: string;
                };
                readonly reply: {
                    readonly status: number;
                    readonly headers: {
                        readonly [key: string]: string;
                    };
                    readonly body: string;
                } | null;
            } | null;
        };
        readonly VendorModels: {
            readonly channel: string;
            readonly vendor: string;
            readonly models: readonly {
                /** @description The vendor’s own name of the model */
                readonly model: string;
                /** @description Public name by which clients get the model; null: the channel does not serve it */
                readonly name: string | null;
                readonly kind: string;
                /** @description Context window in tokens; null: not known */
                readonly context: number | null;
                /** @description Why clients would not be served this model; null: they would */
                readonly problem: string | null;
            }[];
        };
        readonly Arrival: {
            readonly requestId: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
            /**
             * @description `ok`: the request reached a vendor or succeeded, whatever its result. `mistake`: it was refused before any vendor was asked
             * @enum {string}
             */
            readonly outcome: "ok" | "mistake";
            /**
             * @description What is wrong with the request, or `ok`; further codes may be added
             * @example ok
             * @example failed_later
             * @example key_missing
             * @example key_unknown
             * @example key_misplaced
             * @example key_padded
             * @example key_damaged
             * @example key_is_management
             * @example key_disabled
             * @example key_expired
             * @example account_closed
             * @example address_not_allowed
             * @example path_doubled
             * @example path_unknown
             * @example version_missing
             * @example method_not_allowed
             * @example websocket_not_served
             * @example endpoint_not_offered
             * @example model_unknown
             * @example model_not_allowed
             * @example wrong_format
             * @example request_invalid
             * @example no_credit
             * @example rate_limited
             * @example refused
             */
            readonly code: string;
            /** @description HTTP status of the reply */
            readonly status: number;
            /** @description HTTP method of the request; null where `outcome` is `ok` */
            readonly method: string | null;
            /** @description Path of the request; null where `outcome` is `ok` */
            readonly path: string | null;
            readonly model: string | null;
            readonly userAgent: string | null;
            readonly keyId: string | null;
            readonly address: string | null;
            /**
             * @description Why the request is taken for the caller’s: its key is of the account, or it has no known key and comes from the caller’s address. null: the list is of all accounts
             * @enum {string|null}
             */
            readonly by: "key" | "address" | null;
            /** @description Path or model that the client probably meant; null: none is known */
            readonly suggestion: string | null;
            /** @description Explanation for people, in English */
            readonly detail: string;
        };
        readonly ConfigurationItem: {
            readonly id: string;
            /**
             * @description Source of the definition in force: the configuration file (`file`), the gateway (`built-in`) or the store (`stored`)
             * @enum {string}
             */
            readonly origin: "file" | "built-in" | "stored";
            /** @description The section of the configuration file, with every default; `***` stands for a secret */
            readonly document: {
                readonly [key: string]: unknown;
            };
            /** @description Whether the store has one of the same name too, which is not used since the configuration file takes precedence */
            readonly overridden: boolean;
            /** @description Revision of the stored definition, to be sent in If-Match; 0: none is stored */
            readonly revision: number;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly changedAt: string | null;
            /** @description Who changed the stored definition last */
            readonly actor: string | null;
        };
        readonly GroupInput: {
            /** @description Factor by which prices are multiplied for keys of this group. Default: "1". */
            readonly multiplier?: string | null;
            /** @description Factors for some models in place of `multiplier`, by model name or by prefix followed by *; the longest match applies. Default: {}. */
            readonly modelMultipliers?: {
                readonly [key: string]: string;
            } | null;
            /** @description Models that keys of this group may use: names, or prefixes followed by *. Default: ["*"]. */
            readonly models?: readonly string[] | null;
            /** @description Rate limits; further requests get 429. One left out does not limit. */
            readonly limits?: {
                /** @description Requests per minute. */
                readonly requestsPerMinute?: number | null;
                /** @description Tokens per minute, input and output together. */
                readonly tokensPerMinute?: number | null;
                /** @description Concurrent requests. */
                readonly concurrentRequests?: number | null;
            } | null;
            readonly id: string;
        };
        readonly GroupChanges: {
            /** @description Factor by which prices are multiplied for keys of this group. Default: "1". */
            readonly multiplier?: string | null;
            /** @description Factors for some models in place of `multiplier`, by model name or by prefix followed by *; the longest match applies. Default: {}. */
            readonly modelMultipliers?: {
                readonly [key: string]: string;
            } | null;
            /** @description Models that keys of this group may use: names, or prefixes followed by *. Default: ["*"]. */
            readonly models?: readonly string[] | null;
            /** @description Rate limits; further requests get 429. One left out does not limit. */
            readonly limits?: {
                /** @description Requests per minute. */
                readonly requestsPerMinute?: number | null;
                /** @description Tokens per minute, input and output together. */
                readonly tokensPerMinute?: number | null;
                /** @description Concurrent requests. */
                readonly concurrentRequests?: number | null;
            } | null;
        };
        readonly ModelInput: {
            /** @description What the model does; left out: as in the built-in catalogue, else chat. For names that end in *, it is guessed from each model's name (embed, rerank, ...) before chat is assumed. */
            readonly kind?: ("chat" | "completion" | "embedding" | "image" | "transcription" | "translation" | "speech" | "video" | "moderation" | "rerank" | "realtime") | null;
            /** @description Context window in tokens; left out: as in the built-in catalogue, else unknown. */
            readonly context?: number | null;
            /** @description Most tokens of one reply, to which a greater limit in a request is lowered; left out: as in the built-in catalogue, else unknown. */
            readonly maxOutput?: number | null;
            /** @description Whether the model accepts images; left out: as in the built-in catalogue, else false, but true for chat models that only a name ending in * describes. */
            readonly vision?: boolean | null;
            /** @description Value of owned_by in lists of models; left out: as in the built-in catalogue, else the vendor that serves it. */
            readonly ownedBy?: string | null;
            /** @description Time limits that replace those of the section `timeouts` here; those left out stay the same. */
            readonly timeouts?: {
                /** @description Longest time for the name look-up, the connection and TLS together. */
                readonly connectMs?: number | null;
                /** @description Longest time in which the vendor accepts no byte of the request. */
                readonly sendIdleMs?: number | null;
                /** @description Streams: longest time from sending the request to the first content, tool call, reasoning or finish; comments do not count. */
                readonly firstEventMs?: number | null;
                /** @description Replies that are not streamed: longest time from sending the request to the last byte. */
                readonly replyMs?: number | null;
                /** @description Streams: longest time between two bytes. */
                readonly idleMs?: number | null;
                /** @description Streams: longest time between two events with content; ends a stream that sends only pings. */
                readonly semanticIdleMs?: number | null;
                /** @description Longest time for the whole request, including all attempts and waits for the client. */
                readonly totalMs?: number | null;
            } | null;
            readonly id: string;
        };
        readonly ModelChanges: {
            /** @description What the model does; left out: as in the built-in catalogue, else chat. For names that end in *, it is guessed from each model's name (embed, rerank, ...) before chat is assumed. */
            readonly kind?: ("chat" | "completion" | "embedding" | "image" | "transcription" | "translation" | "speech" | "video" | "moderation" | "rerank" | "realtime") | null;
            /** @description Context window in tokens; left out: as in the built-in catalogue, else unknown. */
            readonly context?: number | null;
            /** @description Most tokens of one reply, to which a greater limit in a request is lowered; left out: as in the built-in catalogue, else unknown. */
            readonly maxOutput?: number | null;
            /** @description Whether the model accepts images; left out: as in the built-in catalogue, else false, but true for chat models that only a name ending in * describes. */
            readonly vision?: boolean | null;
            /** @description Value of owned_by in lists of models; left out: as in the built-in catalogue, else the vendor that serves it. */
            readonly ownedBy?: string | null;
            /** @description Time limits that replace those of the section `timeouts` here; those left out stay the same. */
            readonly timeouts?: {
                /** @description Longest time for the name look-up, the connection and TLS together. */
                readonly connectMs?: number | null;
                /** @description Longest time in which the vendor accepts no byte of the request. */
                readonly sendIdleMs?: number | null;
                /** @description Streams: longest time from sending the request to the first content, tool call, reasoning or finish; comments do not count. */
                readonly firstEventMs?: number | null;
                /** @description Replies that are not streamed: longest time from sending the request to the last byte. */
                readonly replyMs?: number | null;
                /** @description Streams: longest time between two bytes. */
                readonly idleMs?: number | null;
                /** @description Streams: longest time between two events with content; ends a stream that sends only pings. */
                readonly semanticIdleMs?: number | null;
                /** @description Longest time for the whole request, including all attempts and waits for the client. */
                readonly totalMs?: number | null;
            } | null;
        };
        readonly OperatorEvent: {
            readonly id: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
            /** @description Who made the change: `account ID` or `management key ID` */
            readonly actor: string;
            /** @enum {string} */
            readonly role: "user" | "admin" | "auditor";
            /** @description Operation id of the change, or `viewAs` */
            readonly action: string;
            readonly target: {
                readonly [key: string]: string;
            };
            readonly detail: {
                readonly [key: string]: unknown;
            };
            readonly address: string | null;
            /** @description Values before and after the change, by field; null: nothing changed, or the difference is not known */
            readonly changes: {
                readonly [key: string]: {
                    readonly before?: unknown;
                    readonly after?: unknown;
                };
            } | null;
        };
        readonly Group: {
            readonly id: string;
            /** @description Decimal by which prices are multiplied for this group, such as `1.25` */
            readonly multiplier: string;
            /** @description Multipliers of single models, in place of `multiplier`, by model name or by a pattern ending in `*`; the longest match applies */
            readonly modelMultipliers: {
                readonly [key: string]: string;
            };
            readonly limits: {
                readonly requestsPerMinute?: number;
                readonly tokensPerMinute?: number;
                readonly concurrentRequests?: number;
            };
            /** @description Models that the group may use now */
            readonly models: readonly string[];
            /** @description Whether everybody may read its models and prices without signing in */
            readonly public: boolean;
            /** @description Whether the caller has keys of this group */
            readonly hasKeys: boolean;
        };
        readonly GroupUse: {
            readonly id: string;
            /** @description Accounts that may make keys of this group because their list of groups names it */
            readonly people: number;
            /** @description Unused invitations whose account may use this group */
            readonly invitations: number;
            /** @description Keys of this group, in the store and in the configuration file */
            readonly keys: number;
            /** @description Channels that serve this group */
            readonly channels: readonly string[];
            /** @description Whether new accounts get this group */
            readonly isDefault: boolean;
            /** @description Finished requests of the last 24 hours */
            readonly requests: number;
            /** @description Charges of the last 24 hours in nano-units */
            readonly chargeNano: string;
        };
        readonly HistoryChoice: {
            readonly account: string;
            /**
             * @description What the account chose to keep of its messages; null: it has not chosen
             * @enum {string|null}
             */
            readonly mode: "off" | "metadata" | "sealed" | "full" | null;
            /** @description For how many days the account chose to keep messages; null: as the operator set */
            readonly retentionDays: number | null;
            /** @description X25519 public key, base64url, to which messages are sealed in mode `sealed` */
            readonly publicKey: string | null;
            /** @description Revision of the choice, to be sent in If-Match; 0: the account has not chosen */
            readonly revision: number;
            /** @description What applies to the account now, from its choice and the operator’s settings */
            readonly inForce: {
                /** @enum {string} */
                readonly mode: "off" | "metadata" | "sealed" | "full";
                readonly retentionDays: number;
            };
            /** @description Most that the operator allows an account to choose */
            readonly allowed: {
                /** @enum {string} */
                readonly mode: "off" | "metadata" | "sealed" | "full";
                readonly retentionDays: number;
            };
        };
        readonly HistorySummary: {
            readonly requestId: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
            readonly account: string;
            readonly key: string;
            readonly keyName: string;
            readonly model: string;
            readonly operation: string;
            /** @description Format of the client, such as `openai-chat` */
            readonly format: string;
            readonly stream: boolean;
            readonly status: number;
            /** @enum {string} */
            readonly mode: "metadata" | "sealed" | "full";
            /** @description Size of the request body in bytes */
            readonly requestBytes: number;
            /** @description Size of the reply body in bytes */
            readonly replyBytes: number;
            readonly parameters: readonly string[];
            /** @description Whether a body was cut off, since it was larger than is kept */
            readonly truncated: boolean;
            /** @description Whether bodies are kept, open or sealed */
            readonly hasBody: boolean;
            /**
             * Format: date-time
             * @description When the message is deleted
             */
            readonly expiresAt: string;
        };
        readonly HistoryMessage: components["schemas"]["HistorySummary"] & {
            /** @description Whether a body is kept that the caller may not read */
            readonly withheld: boolean;
            /** @description null: no body is kept, it is sealed, or the caller may not read it */
            readonly body: {
                /** @description Body of the request: JSON in the client’s format, or text */
                readonly request?: unknown;
                /** @description Body of the reply; a stream is put together into one reply */
                readonly reply?: unknown;
                readonly files?: unknown;
                /** @description Requests that were sent to vendors, in order; only for operators */
                readonly sent?: unknown;
            } | null;
            /** @description Sealed bodies in base64, to be opened with the account’s private key as docs/history.md describes; null: not sealed */
            readonly sealed: {
                readonly wrappedKey: string;
                readonly content: string;
            } | null;
            readonly blobs: readonly {
                readonly id: string;
                readonly type: string;
                readonly size: number;
            }[];
        };
        readonly Key: {
            readonly id: string;
            readonly name: string;
            readonly account: string;
            /** @description Group of models that the key may use */
            readonly group: string;
            /** @description Last four characters of the secret */
            readonly hint: string;
            /** @enum {string} */
            readonly status: "active" | "disabled" | "expired";
            /** @description Whether the configuration file declares it, so that it is changed only there */
            readonly declared: boolean;
            /**
             * Format: date-time
             * @description When it was created; null: the configuration file declares it
             */
            readonly createdAt: string | null;
            /**
             * Format: date-time
             * @description When it expires; null: never
             */
            readonly expiresAt: string | null;
            /**
             * Format: date-time
             * @description When it was disabled; null: it was not, or the configuration file declares it
             */
            readonly disabledAt: string | null;
            /**
             * Format: date-time
             * @description When the secret before the last rotation stops working; null: it does not work
             */
            readonly previousUntil: string | null;
            /** @description Models of the group that the key may use, by name or by a pattern ending in `*`; null: all */
            readonly models: readonly string[] | null;
            /** @description Models that the key may not use, by name or by a pattern ending in `*`; null: none */
            readonly deniedModels: readonly string[] | null;
            /** @description IP addresses and ranges from which the key is accepted; null: any */
            readonly addresses: readonly string[] | null;
            /**
             * @description What is kept of the messages of this key; null: as the account chose
             * @enum {string|null}
             */
            readonly historyMode: "off" | "metadata" | "full" | "sealed" | null;
            /** @description Whether replies to this key contain their cost unless the request says otherwise */
            readonly showCost: boolean;
            readonly limits: {
                /** @description null: no limit */
                readonly requestsPerMinute: number | null;
                /** @description null: no limit */
                readonly tokensPerMinute: number | null;
                /** @description null: no limit */
                readonly concurrentRequests: number | null;
            };
            /** @description null: no spend limit */
            readonly spendLimit: {
                /** @description Most that may be spent in a period, in nano-units */
                readonly amountNano: string;
                /** @description Charges of the present period, in nano-units */
                readonly spentNano: string;
                /**
                 * @description `never`: one limit for all time
                 * @enum {string}
                 */
                readonly period: "day" | "week" | "month" | "never";
                /** @description Time zone whose midnight begins a period */
                readonly timeZone: string;
                /**
                 * Format: date-time
                 * @description When the next period begins; null: never
                 */
                readonly resetsAt: string | null;
            } | null;
            readonly currency: string;
            /** @description Requests since midnight in UTC */
            readonly today: {
                /** @description Number of finished requests */
                readonly requests: number;
                /** @description Charges in nano-units */
                readonly chargeNano: string;
            };
            /** @description Requests since the first day of the month, in UTC */
            readonly month: {
                /** @description Number of finished requests */
                readonly requests: number;
                /** @description Charges in nano-units */
                readonly chargeNano: string;
            };
            /** @description Latest use of the key, recorded at most once a minute; null: it was never used */
            readonly lastUsed: {
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly at: string;
                readonly address: string | null;
                readonly client: string | null;
            } | null;
            /** @description Grows with each change; to be sent in If-Match */
            readonly revision: number;
        };
        readonly KeySummary: {
            readonly active: number;
            readonly disabled: number;
            readonly expired: number;
            readonly currency: string;
            /** @description Sum of these keys: Requests since midnight in UTC */
            readonly today: {
                /** @description Number of finished requests */
                readonly requests: number;
                /** @description Charges in nano-units */
                readonly chargeNano: string;
            };
            /** @description Sum of these keys: Requests since the first day of the month, in UTC */
            readonly month: {
                /** @description Number of finished requests */
                readonly requests: number;
                /** @description Charges in nano-units */
                readonly chargeNano: string;
            };
        };
        readonly KeyWithSecret: components["schemas"]["Key"] & {
            /** @description Secret of the key, shown in this reply only */
            readonly secret: string;
        };
        readonly KeyImpact: {
            readonly id: string;
            /** @description Requests since `since` */
            readonly requestsLastDay: number;
            /**
             * Format: date-time
             * @description 24 hours ago, rounded down to a quarter of an hour
             */
            readonly since: string;
            /** @description Latest use of the key, recorded at most once a minute; null: it was never used */
            readonly lastUsed: {
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly at: string;
                readonly address: string | null;
                readonly client: string | null;
            } | null;
            readonly currency: string;
            /** @description Requests since the first day of the month, in UTC */
            readonly month: {
                /** @description Number of finished requests */
                readonly requests: number;
                /** @description Charges in nano-units */
                readonly chargeNano: string;
            };
        };
        readonly KeyTest: {
            readonly id: string;
            /** @description Whether a request with this key would be accepted */
            readonly admitted: boolean;
            /** @description Every reason for which it would be refused; empty: none */
            readonly reasons: readonly {
                readonly code: string;
                readonly message: string;
            }[];
            /** @description Models that the key may use now */
            readonly models: readonly string[];
        };
        readonly ManagementKey: {
            readonly id: string;
            readonly name: string;
            /** @description Account that the key is bound to; null: it manages the whole deployment, with the rights of an admin */
            readonly account: string | null;
            /** @description Last four characters of the secret */
            readonly hint: string;
            readonly scopes: readonly ("read" | "write")[];
            /** @enum {string} */
            readonly status: "active" | "disabled" | "expired";
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description When it expires; null: never
             */
            readonly expiresAt: string | null;
            /**
             * Format: date-time
             * @description When it was disabled; null: it is not disabled
             */
            readonly disabledAt: string | null;
            /**
             * Format: date-time
             * @description When it was last used, recorded at most once a minute; null: never
             */
            readonly lastUsedAt: string | null;
            /** @description Grows with each change; to be sent in If-Match */
            readonly revision: number;
        };
        readonly ManagementKeyWithSecret: components["schemas"]["ManagementKey"] & {
            /** @description Secret of the key, shown in this reply only */
            readonly secret: string;
        };
        readonly Person: {
            /** @description Id of the account */
            readonly id: string;
            readonly name: string;
            readonly email: string | null;
            readonly emailVerified: boolean;
            /** @enum {string} */
            readonly role: "user" | "admin" | "auditor";
            /** @description Groups for which the account may make keys; keys it has keep their groups. null: all groups */
            readonly groups: readonly string[] | null;
            /** @enum {string} */
            readonly status: "active" | "suspended" | "deleted";
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly suspendedAt: string | null;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly deletedAt: string | null;
            readonly identities: readonly components["schemas"]["Identity"][];
            readonly revision: number;
        };
        readonly Identity: {
            readonly id: string;
            /** @description Identity provider that vouches for the person */
            readonly issuer: string;
            /** @description Id of the person at the identity provider */
            readonly subject: string;
            readonly name: string;
            readonly email: string | null;
            readonly emailVerified: boolean;
            /**
             * Format: date-time
             * @description When it was linked
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description When it last signed in
             */
            readonly usedAt: string;
        };
        readonly Session: {
            readonly id: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly usedAt: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly expiresAt: string;
            /** @description IP address that signed in */
            readonly address: string | null;
            /** @description Browser that signed in */
            readonly client: string | null;
            /** @description Whether this request belongs to the session */
            readonly current: boolean;
        };
        readonly Model: {
            readonly id: string;
            /** @enum {string} */
            readonly kind: "chat" | "completion" | "embedding" | "image" | "transcription" | "translation" | "speech" | "video" | "moderation" | "rerank" | "realtime";
            /** @description Maker of the model, whichever channel serves it */
            readonly vendor: string;
            /** @description Context window in tokens; null: not known */
            readonly context: number | null;
            /** @description Most tokens of a reply; null: not known */
            readonly maxOutput: number | null;
            readonly inputs: readonly ("text" | "image" | "audio" | "video")[];
            readonly outputs: readonly ("text" | "image" | "audio" | "video")[];
            /** @description Whether it takes images */
            readonly vision: boolean;
            /** @description Whether it can call tools; null: not known */
            readonly tools: boolean | null;
            /** @description Whether it reasons before it replies; null: not known */
            readonly reasoning: boolean | null;
            /** @description Whether it can reply in JSON that follows a schema (`response_format`); null: not known */
            readonly jsonSchema: boolean | null;
            /** @description Paths at which it can be called */
            readonly endpoints: readonly string[];
            /**
             * Format: date-time
             * @description When this deployment first had a price for it
             */
            readonly since: string;
            /** @description Group whose price is shown */
            readonly group: string;
            readonly currency: string;
            readonly price: {
                readonly version: number;
                /**
                 * Format: date-time
                 * @description When this version took effect; null: it always was in effect
                 */
                readonly from: string | null;
                /**
                 * Format: date-time
                 * @description When this version was stored
                 */
                readonly updatedAt: string;
                /** @enum {string} */
                readonly origin: "file" | "shipped" | "set" | "import";
                /** @description Multiplier of the group for this model */
                readonly multiplier: string;
                readonly lines: readonly components["schemas"]["PriceLine"][];
            };
            /** @description Groups that the caller may see and that have the model */
            readonly groups: readonly string[];
            /** @description Those of `groups` of which the caller has keys */
            readonly keyGroups: readonly string[];
            readonly live: components["schemas"]["ModelLive"];
        };
        readonly PriceLine: {
            /**
             * @description Name of the price on the rate card
             * @example input>200000
             */
            readonly name: string;
            /**
             * @description Unit that is counted
             * @example token
             */
            readonly unit: string;
            /** @description The price applies to prompts longer than this many tokens; 0: to all */
            readonly above: number;
            /** @description Price of a million units for the group, in nano-units, multiplier included */
            readonly priceNano: string;
            /** @description Price of a million units without the group’s multiplier, in nano-units */
            readonly baseNano: string;
            /** @description Published price of a million units, in nano-units; null: none is shipped */
            readonly officialNano: string | null;
        };
        /** @description null: no requests in the last 24 hours */
        readonly ModelLive: {
            /** @description Requests with a first token: the sample of `ttft` and `speed`, given even where it is too small for them */
            readonly begun: number;
            /** @description Requests that succeeded or failed with 5xx: the sample of `success`, given even where it is too small for it */
            readonly tried: number;
            /** @description Time to the first token in ms: median and 95th percentile */
            readonly ttft: {
                readonly p50Ms: number;
                readonly p95Ms: number;
                /** @description Number of requests that the figure is computed from */
                readonly sample: number;
            } | null;
            /** @description Speed of streams from the first token on */
            readonly speed: {
                readonly tokensPerSecond: number;
                /** @description Number of requests that the figure is computed from */
                readonly sample: number;
            } | null;
            /** @description Percentage of requests that succeeded; refused requests (4xx) do not count */
            readonly success: {
                readonly percent: number;
                /** @description Number of requests that the figure is computed from */
                readonly sample: number;
            } | null;
        } | null;
        readonly PriceChange: {
            readonly model: string;
            readonly version: number;
            /**
             * Format: date-time
             * @description When the change takes or took effect
             */
            readonly from: string;
            /**
             * Format: date-time
             * @description When the change was stored; earlier than `from` where it was scheduled
             */
            readonly announcedAt: string;
            /** @enum {string} */
            readonly state: "scheduled" | "in force" | "past";
            /** @description Prices after the change; empty: the model has no price from then on */
            readonly lines: readonly components["schemas"]["PriceLine"][];
            readonly steps: readonly {
                readonly name: string;
                /** @description Price of a million units before, in nano-units; null: there was none */
                readonly beforeNano: string | null;
                /** @description Price of a million units after, in nano-units; null: there is none */
                readonly afterNano: string | null;
                /**
                 * @description Change in percent; null: there was no price before, or it was 0
                 * @example +33.3
                 */
                readonly percent: string | null;
            }[];
        };
        readonly Operations: {
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
            readonly timeZone: string;
            readonly currency: string;
            readonly processes: {
                /** @description Number of processes in these figures: the one that answers, and others that served requests in the last seconds */
                readonly known: number;
                /** @description Whether other processes could report; false on the first request after a while, since processes report only while somebody reads this: request it again */
                readonly complete: boolean;
                /**
                 * Format: date-time
                 * @description When the process that runs longest was started
                 */
                readonly startedAt: string;
            };
            readonly requests: {
                /** @description Requests that run now, in all known processes */
                readonly running: number;
                /** @description Requests per second in the last whole minute */
                readonly perSecond: number;
                /** @description Settled requests of the last 60 whole minutes, by the minute in which they began */
                readonly minutes: readonly {
                    /**
                     * Format: date-time
                     * @description Time in UTC, RFC 3339
                     */
                    readonly at: string;
                    readonly requests: number;
                }[];
                /** @description Requests of the last whole hour and the current quarter of an hour */
                readonly lastHour: {
                    /**
                     * Format: date-time
                     * @description Time in UTC, RFC 3339
                     */
                    readonly since: string;
                    /**
                     * Format: date-time
                     * @description Time in UTC, RFC 3339
                     */
                    readonly until: string;
                    readonly requests: number;
                    readonly failed: number;
                    /** @description Share of the requests that succeeded, from 0 to 1; null: there were none */
                    readonly successRate: number | null;
                };
            };
            /** @description Time that requests spent in the gateway itself, by phase, since each process started */
            readonly overhead: {
                readonly auth: components["schemas"]["Overhead"];
                readonly route: components["schemas"]["Overhead"];
                readonly settle: components["schemas"]["Overhead"];
            };
            readonly settlement: {
                /** @description Number of finished requests that are not in the ledger yet */
                readonly unsettled: number;
                /** @description Age of the oldest of these, in ms */
                readonly oldestUnsettledMs: number;
                /** @description Number of settlements that failed and were set aside, counted up to 1,000 */
                readonly setAside: number;
                /** @description Reasons for which processes admit no requests, one for each such process; empty: all admit requests */
                readonly closed: readonly string[];
            };
            readonly errors: {
                /**
                 * Format: date-time
                 * @description Begin of the period: an hour ago, or later where the latest 50,000 requests are more recent
                 */
                readonly since: string;
                readonly items: readonly {
                    readonly code: string;
                    readonly requests: number;
                    /**
                     * Format: date-time
                     * @description Time in UTC, RFC 3339
                     */
                    readonly lastAt: string;
                    /** @description Id of one of the newest of these requests */
                    readonly requestId: string;
                }[];
            };
            readonly channels: readonly components["schemas"]["ChannelHealth"][];
            readonly money: {
                readonly today: components["schemas"]["OperationsMoney"];
                readonly days7: components["schemas"]["OperationsMoney"];
                readonly days30: components["schemas"]["OperationsMoney"];
                /** @description Deposits to all wallets today in `timeZone`, in nano-units */
                readonly creditedTodayNano: string;
            };
            readonly alerts: readonly components["schemas"]["OperationsAlert"][];
        };
        readonly Overhead: {
            /** @description Number of requests that were measured */
            readonly requests: number;
            /** @description Median in ms; null: none was measured */
            readonly p50Ms: number | null;
            /** @description 95th percentile in ms */
            readonly p95Ms: number | null;
            /** @description 99th percentile in ms */
            readonly p99Ms: number | null;
        };
        readonly ChannelHealth: {
            readonly id: string;
            readonly vendor: string;
            /** @enum {string} */
            readonly state: "ok" | "degraded" | "open" | "draining" | "disabled";
            /** @description Why it gets no requests or fails: breaker, rate_limited, quota, credentials, failing or configuration; null: it works */
            readonly reason: string | null;
            /** @description Kind of the last attempt’s fault; null: none */
            readonly fault: string | null;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly since: string | null;
        };
        readonly OperationsMoney: {
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly since: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly until: string;
            /** @description Charges to all accounts, in nano-units */
            readonly revenueNano: string;
            /** @description Usage that wallets could not pay for and that was written off, in nano-units */
            readonly writeoffNano: string;
            /** @description Cost of all attempts at the models’ prices without the groups’ multipliers, in nano-units */
            readonly vendorCostNano: string;
            /** @description `revenueNano` less `vendorCostNano` */
            readonly marginNano: string;
        };
        readonly OperationsAlert: {
            /** @enum {string} */
            readonly code: "ledger_closed" | "channel_disabled" | "channel_open" | "settlement_late" | "set_aside" | "records_missing" | "reconcile_difference" | "price_missing" | "archive_failing" | "export_failing" | "warning";
            /** @enum {string} */
            readonly severity: "critical" | "warning";
            /** @description Channel, model, export destination or bill that the alert is about; null: the deployment */
            readonly subject: string | null;
            readonly message: string;
            /** @description Number in the message: seconds, settlements, records, places or refused requests; null: none */
            readonly count: number | null;
            /** @description Details in the words of their source, such as a database’s error; null: `code` says all */
            readonly cause: string | null;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly since: string | null;
        };
        readonly PaymentOffer: {
            readonly account: string;
            /** @description Currency of the credit */
            readonly currency: string;
            /** @enum {string} */
            readonly mode: "play" | "live";
            /** @description Least amount of an order */
            readonly minimum: string;
            /** @description Greatest amount of an order */
            readonly maximum: string;
            /** @description Minutes for which an order can be paid */
            readonly orderMinutes: number;
            readonly providers: readonly {
                readonly name: string;
                readonly currency: string;
                readonly methods: readonly string[];
                /** @description Credit for one unit of the provider’s currency */
                readonly rate: string;
                /** @description Amounts to choose from */
                readonly presets: readonly {
                    /** @description Amount in the provider’s currency */
                    readonly amount: string;
                    /** @description Credit for this amount, in nano-units */
                    readonly creditNano: string;
                    /** @description Bonus for this amount, in nano-units */
                    readonly bonusNano: string;
                }[];
                /** @description Credit and bonus for the `amount` of the request; null: none was given */
                readonly asked: {
                    /** @description Amount in the provider’s currency */
                    readonly amount: string;
                    /** @description Credit for this amount, in nano-units */
                    readonly creditNano: string;
                    /** @description Bonus for this amount, in nano-units */
                    readonly bonusNano: string;
                } | null;
            }[];
            /** @description Bonus for a first top-up; null: there is none, or the account has paid before */
            readonly bonus: {
                readonly percent: string | null;
                readonly amount: string | null;
                readonly tiers: readonly {
                    readonly from: string;
                    readonly percent: string;
                }[];
                readonly max: string | null;
                readonly minimum: string;
                readonly days: number | null;
                /** @enum {string} */
                readonly spent: "first" | "last";
            } | null;
            /** @description Credit of all payments of the account so far, in nano-units */
            readonly paidNano: string;
            /** @description Part of the balance that is unspent bonus, in nano-units */
            readonly bonusNano: string;
            /**
             * Format: date-time
             * @description When the unspent bonus expires; null: never, or there is none
             */
            readonly bonusExpiresAt: string | null;
            /** @description Part of the balance that can be refunded, in nano-units */
            readonly refundableNano: string;
        };
        readonly Order: {
            readonly id: string;
            readonly account: string;
            /** @enum {string} */
            readonly provider: "alipay" | "wechatpay" | "stripe";
            /**
             * @description `play`: paid to the payment simulator, without real money
             * @enum {string}
             */
            readonly mode: "play" | "live";
            /** @description Payment method of the provider */
            readonly method: string;
            /** @description Amount to pay, such as `12.50` */
            readonly amount: string;
            /** @description Currency of `amount` */
            readonly currency: string;
            /** @description Credit in nano-units, at the exchange rate at the time of the order */
            readonly creditNano: string;
            /** @description Bonus for a first top-up in nano-units, given with the credit unless the account or the payer has had one before */
            readonly bonusNano: string;
            /** @enum {string} */
            readonly state: "created" | "shown" | "paid" | "credited" | "part_refunded" | "refunded" | "expired" | "closed" | "disputed";
            /** @description What an operator should look at, such as a late or a second payment; null: nothing */
            readonly flag: string | null;
            /** @description The provider’s number of the first payment; null: nothing is paid */
            readonly tradeNumber: string | null;
            /** @description How to pay: an address to open, or the content of a QR code; null: the order cannot be paid */
            readonly pay: {
                /** @enum {string} */
                readonly kind: "redirect" | "qr" | "bridge";
                readonly url: string;
                /** @description For `bridge`: the arguments of `getBrandWCPayRequest` in WeChat’s browser */
                readonly bridge?: {
                    readonly [key: string]: string;
                };
            } | null;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description Until when it can be paid
             */
            readonly expiresAt: string;
            /**
             * Format: date-time
             * @description When it was credited; null: not yet
             */
            readonly creditedAt: string | null;
            /**
             * Format: date-time
             * @description When it expired or was cancelled; null: it did not
             */
            readonly endedAt: string | null;
            readonly revision: number;
        };
        readonly OrderDetails: components["schemas"]["Order"] & {
            /** @description Amount that was paid and is not refunded, in `currency`; `0.00` while a payment is disputed */
            readonly refundable: string;
            readonly payments: readonly {
                /** @description The provider’s number of the payment */
                readonly id: string;
                readonly amount: string;
                /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                readonly creditNano: string;
                readonly outcome: string;
                /**
                 * Format: date-time
                 * @description When the payment was credited
                 */
                readonly at: string;
            }[];
            readonly refunds: readonly {
                readonly id: string;
                /** @enum {string} */
                readonly state: "pending" | "done" | "failed";
                /** @description Amount in the currency of the order */
                readonly amount: string;
                /** @description Credit that is taken back, in nano-units */
                readonly amountNano: string;
                /** @description Bonus that is taken back, in nano-units */
                readonly clawbackNano: string;
                readonly reason: string;
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly at: string;
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly endedAt: string | null;
                /** @description Why it failed, or why the provider could not be asked yet; null: neither */
                readonly failure: string | null;
            }[];
            /** @description Bonus that was given, in nano-units */
            readonly givenBonusNano: string;
            /** @description What happened to the order, oldest first */
            readonly timeline: readonly {
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly at: string;
                readonly what: string;
                readonly detail: string | null;
            }[];
        };
        readonly PaymentBill: {
            readonly provider: string;
            /**
             * Format: date
             * @description Day in China’s time zone
             */
            readonly day: string;
            readonly currency: string;
            /** @description Number of payments in the bill */
            readonly payments: number;
            /** @description Sum of these payments */
            readonly paid: string;
            /** @description Number of refunds in the bill */
            readonly refunds: number;
            /** @description Sum of these refunds */
            readonly refunded: string;
            /** @description The first 1,000 differences */
            readonly differences: readonly {
                /** @enum {string} */
                readonly kind: "payment_not_booked" | "payment_not_billed" | "refund_not_booked" | "refund_not_billed" | "amount";
                readonly transactionId: string;
                readonly orderId: string;
                /** @description Refund that differs; null: the difference is in a payment */
                readonly refundId: string | null;
                /** @description Amount in the bill; null: it is not in the bill */
                readonly billed: string | null;
                /** @description Amount that was booked here; null: it was not booked */
                readonly booked: string | null;
                /** @description Whether this deployment has the order */
                readonly isOrder: boolean;
            }[];
            /** @description Number of differences that are not listed */
            readonly moreDifferences: number;
        };
        readonly RefundPlan: {
            /** @description Amount in the currency of the order */
            readonly amount: string;
            /** @description Credit that would be taken back, in nano-units */
            readonly amountNano: string;
            /** @description Bonus that would be taken back, in nano-units */
            readonly clawbackNano: string;
        };
        readonly Refund: {
            readonly id: string;
            /** @enum {string} */
            readonly state: "pending" | "done" | "failed";
            /** @description Amount in the currency of the order */
            readonly amount: string;
            /** @description Credit that is taken back, in nano-units */
            readonly amountNano: string;
            /** @description Bonus that is taken back, in nano-units */
            readonly clawbackNano: string;
            readonly reason: string;
            /** @description Operator who began the refund */
            readonly actor: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly endedAt: string | null;
            /** @description Why it failed, or why the provider could not be asked yet; null: neither */
            readonly failure: string | null;
        };
        readonly ListedPerson: components["schemas"]["Person"] & {
            readonly currency: string;
            /** @description Balance of the wallet in nano-units, holds of running requests included */
            readonly balanceNano: string;
            /** @description Charges of the last 30 days, in nano-units */
            readonly spendNano: string;
            /** @description Number of keys, disabled and expired ones and those of the configuration file included */
            readonly keys: number;
            /**
             * Format: date-time
             * @description When a session, an identity or a key of the account was last used; null: never
             */
            readonly lastSeenAt: string | null;
        };
        readonly Invitation: {
            readonly id: string;
            readonly note: string;
            /** @enum {string} */
            readonly role: "user" | "admin" | "auditor";
            /** @description Groups of the account that it creates; null: the default group of new accounts */
            readonly groups: readonly string[] | null;
            /** @enum {string} */
            readonly status: "open" | "used" | "revoked" | "expired";
            readonly createdBy: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly expiresAt: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly revokedAt: string | null;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly usedAt: string | null;
            /** @description Account that was created with it; null: it is not used */
            readonly usedBy: string | null;
        };
        readonly PlaygroundKey: {
            readonly id: string;
            readonly group: string;
            /** @description Secret of the key, shown in this reply only */
            readonly key: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly expiresAt: string;
        };
        readonly Preferences: {
            /**
             * @description Language of the console; null: the browser’s
             * @enum {string|null}
             */
            readonly language: "en" | "zh-CN" | null;
            /**
             * @description Colours of the console
             * @enum {string}
             */
            readonly theme: "system" | "light" | "dark";
            /**
             * @description Height of table rows
             * @enum {string}
             */
            readonly density: "comfortable" | "compact";
            /** @description IANA time zone in which times are shown; null: the browser’s */
            readonly timeZone: string | null;
            /** @description Saved views of pages, by name */
            readonly views: readonly {
                readonly name: string;
                readonly page: string;
                readonly search: string;
                readonly columns?: {
                    readonly [key: string]: boolean;
                };
            }[];
            /** @description Settings of each table, by its id */
            readonly columns: {
                readonly [key: string]: unknown;
            };
            /** @description Buyer that receipts and statements name; null: only the account */
            readonly buyer: {
                /** @description Name of the buyer */
                readonly title: string;
                /** @description Tax number; empty: none is printed */
                readonly taxNumber: string;
                /** @description Address; empty: none is printed */
                readonly address: string;
            } | null;
            /** @description Revision of the preferences, to be sent in If-Match; 0: they were never set */
            readonly revision: number;
        };
        readonly ListedPriceCard: {
            readonly model: string;
            readonly version: number;
            /**
             * Format: date-time
             * @description When the card takes or took effect
             */
            readonly from: string;
            /**
             * @description Source of the card: configuration file, shipped catalogue, set here, or imported here
             * @enum {string}
             */
            readonly origin: "file" | "shipped" | "set" | "import";
            /** @description Decimal price of a million units in the currency, by the name of the price */
            readonly prices: {
                readonly [key: string]: string;
            };
            /** @description Where the prices come from, as given */
            readonly source: string;
            /** @description Date of the source; null: not known */
            readonly sourceDate: string | null;
            /** @description Who stored the card; null: the gateway */
            readonly actor: string | null;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly createdAt: string;
            /** @enum {string} */
            readonly state: "in force" | "scheduled" | "replaced";
        };
        readonly PriceChangeMade: {
            readonly card: components["schemas"]["PriceCard"];
            readonly differences: readonly components["schemas"]["PriceDifference"][];
            /** @description Whether no model of this name is known or has had a price */
            readonly isUnknown: boolean;
            /** @description Price without which requests to the model are refused; null: none is missing */
            readonly missing: string | null;
            /** @description Whether the configuration file prices the model, so that the card takes effect only once it no longer does */
            readonly isInFile: boolean;
        };
        /** @description The new card; null: nothing was changed, since a difference is large and `allowLarge` was not given */
        readonly PriceCard: {
            readonly model: string;
            readonly version: number;
            /**
             * Format: date-time
             * @description When the card takes or took effect
             */
            readonly from: string;
            /**
             * @description Source of the card: configuration file, shipped catalogue, set here, or imported here
             * @enum {string}
             */
            readonly origin: "file" | "shipped" | "set" | "import";
            /** @description Decimal price of a million units in the currency, by the name of the price */
            readonly prices: {
                readonly [key: string]: string;
            };
            /** @description Where the prices come from, as given */
            readonly source: string;
            /** @description Date of the source; null: not known */
            readonly sourceDate: string | null;
            /** @description Who stored the card; null: the gateway */
            readonly actor: string | null;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly createdAt: string;
        } | null;
        readonly PriceDifference: {
            readonly name: string;
            /** @description Price of a million units before; null: there was none */
            readonly before: string | null;
            /** @description Price of a million units after; null: there is none */
            readonly after: string | null;
            /** @description Change in percent, such as `+33.3`; null: there was no price before, or it was 0 */
            readonly percent: string | null;
            /** @description Whether the price changes more than tenfold, or to or from 0 */
            readonly large: boolean;
        };
        readonly MissingPrice: {
            readonly model: string;
            /** @description What is missing */
            readonly reason: string;
            /** @description Groups that have the model */
            readonly groups: readonly string[];
            /** @description Channels that list the model by name; those with a pattern, or with all models of their vendor, are left out */
            readonly channels: readonly string[];
            /** @description Number of requests for it that were refused with 503 before any channel was asked, among those of the last 7 days, at most the newest 50,000 */
            readonly refused: number;
        };
        readonly ShippedPriceDifference: {
            readonly model: string;
            /** @description Version of the card in force */
            readonly version: number;
            /**
             * @description Source of the card: configuration file, shipped catalogue, set here, or imported here
             * @enum {string}
             */
            readonly origin: "file" | "shipped" | "set" | "import";
            /** @description Decimal price of a million units in the currency, by the name of the price */
            readonly prices: {
                readonly [key: string]: string;
            };
            /** @description Shipped prices, in the same form */
            readonly shipped: {
                readonly [key: string]: string;
            };
            /** @description Where the shipped prices come from */
            readonly source: string;
            readonly sourceDate: string | null;
            readonly differences: readonly components["schemas"]["PriceDifference"][];
        };
        readonly PriceEffect: {
            readonly currency: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly since: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly until: string;
            /**
             * Format: date-time
             * @description Requests before this time were not priced, since there are too many; null: all were
             */
            readonly coveredSince: string | null;
            /** @description Number of priced requests that asked for the model by this name */
            readonly requests: number;
            /** @description Charges and write-offs of these requests at the time, in nano-units */
            readonly thenNano: string;
            /** @description Their cost at the proposed prices, in nano-units */
            readonly proposedNano: string;
            /** @description `proposedNano` less `thenNano`; positive: dearer */
            readonly differenceNano: string;
            /** @description Requests that are in no sum, since they used something that the proposed card has no price for */
            readonly unpriced: {
                readonly requests: number;
                /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                readonly thenNano: string;
            };
        };
        readonly PriceImport: {
            /** @description Whether the prices were stored */
            readonly applied: boolean;
            /** @description Number of models that the document prices */
            readonly models: number;
            readonly changes: readonly {
                readonly model: string;
                /** @description Decimal price of a million units in the currency, by the name of the price */
                readonly prices: {
                    readonly [key: string]: string;
                };
                readonly source: string;
                readonly sourceDate: string | null;
                readonly before: {
                    readonly version: number;
                    /** @description Decimal price of a million units in the currency, by the name of the price */
                    readonly prices: {
                        readonly [key: string]: string;
                    };
                } | null;
                readonly differences: readonly components["schemas"]["PriceDifference"][];
            }[];
            /** @description Versions of the new cards, in the order of `changes`; empty: nothing was stored */
            readonly versions: readonly number[];
            /** @description Models for which nothing was stored at all, since their change is large and `allowLarge` was not given */
            readonly refused: readonly string[];
            /** @description Changed models that the configuration file prices, which takes precedence */
            readonly inFile: readonly string[];
        };
        readonly Reconciled: {
            readonly currency: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly since: string;
            /**
             * Format: date-time
             * @description End of the period that this answer covers
             */
            readonly until: string;
            /** @description Whether nothing differs */
            readonly ok: boolean;
            readonly items: readonly components["schemas"]["ReconciledDay"][];
            /** @description The first 100 differences */
            readonly differences: readonly components["schemas"]["ReconcileDifference"][];
            /** @description Number of differences that are not listed */
            readonly moreDifferences: number;
            /** @description Cursor for the rest of the period; null: this answer completes it */
            readonly next: string | null;
        };
        readonly ReconciledDay: {
            /**
             * Format: date
             * @description Day in UTC
             */
            readonly day: string;
            readonly account: string;
            /**
             * @description `pruned`: the requests of the day are no longer kept, and only totals remain
             * @enum {string}
             */
            readonly state: "equal" | "different" | "pruned";
            readonly rows: components["schemas"]["ReconciledSum"];
            /** @description Sum of the journal entries; null: pruned */
            readonly entries: {
                /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                readonly chargeNano: string;
                /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                readonly writeoffNano: string;
            } | null;
            readonly totals: components["schemas"]["ReconciledSum"] & unknown;
        };
        /** @description Sum of the request records; null: pruned */
        readonly ReconciledSum: {
            readonly requests: number;
            /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
            readonly chargeNano: string;
            /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
            readonly writeoffNano: string;
        } | null;
        readonly ReconcileDifference: {
            readonly requestId: string;
            readonly account: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
            /**
             * @description `entry`: the journal has another amount. `price`: tokens and prices of the request give another amount. `row`: a journal entry without a request record
             * @enum {string}
             */
            readonly kind: "entry" | "price" | "row";
            readonly message: string;
        };
        readonly OrderReceipt: {
            /** @description Id of the order */
            readonly number: string;
            /** @description Issuer of the receipt: `payments.issuer` of the configuration; null: not set */
            readonly issuer: string | null;
            readonly account: string;
            readonly name: string;
            /** @description Buyer that receipts and statements name; null: only the account */
            readonly buyer: {
                /** @description Name of the buyer */
                readonly title: string;
                /** @description Tax number; empty: none is printed */
                readonly taxNumber: string;
                /** @description Address; empty: none is printed */
                readonly address: string;
            } | null;
            /** @enum {string} */
            readonly provider: "alipay" | "wechatpay" | "stripe";
            /** @enum {string} */
            readonly mode: "play" | "live";
            readonly state: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description When this receipt was made
             */
            readonly asOf: string;
            /** @description Currency of payments and refunds */
            readonly currency: string;
            readonly payments: readonly {
                readonly id: string;
                readonly amount: string;
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly at: string;
                /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                readonly creditNano: string;
                readonly outcome: string;
            }[];
            /** @description Sum of the payments, in `currency` */
            readonly paid: string;
            readonly refunds: readonly {
                readonly id: string;
                readonly amount: string;
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly at: string;
                /** @enum {string} */
                readonly state: "pending" | "done" | "failed";
                /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                readonly amountNano: string;
                /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                readonly clawbackNano: string;
                readonly reason: string;
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly endedAt: string | null;
                readonly failure: string | null;
            }[];
            /** @description Sum of the refunds in `currency`, those included that the provider has not confirmed */
            readonly refunded: string;
            /** @description Currency of credit and bonus */
            readonly creditCurrency: string;
            /** @description Credit that was bought, in nano-units */
            readonly creditNano: string;
            /** @description Bonus that was given, in nano-units */
            readonly bonusNano: string;
            /** @description Credit and bonus that refunds took back, in nano-units */
            readonly takenNano: string;
        };
        readonly PaymentHealth: {
            /** @enum {string} */
            readonly mode: "play" | "live";
            readonly providers: readonly {
                readonly name: string;
                /** @description Callback address that the provider must reach with its notifications */
                readonly address: string;
                /**
                 * Format: date-time
                 * @description When the latest notification arrived; null: never
                 */
                readonly receivedAt: string | null;
                /**
                 * Format: date-time
                 * @description When the latest notification was refused; null: never
                 */
                readonly refusedAt: string | null;
                /** @description Why the latest refused notification was refused; null: none was */
                readonly problem: string | null;
                /**
                 * Format: date-time
                 * @description When an order of this provider was last credited; null: never
                 */
                readonly creditedAt: string | null;
                /** @description Number of open orders */
                readonly open: number;
                /** @description Number of open orders that are older than two minutes */
                readonly stuck: number;
            }[];
        };
        readonly CallbackTest: {
            /** @description Callback address that was tested */
            readonly address: string;
            /**
             * @description `arrived`: this deployment answers at the address; all others: what prevents it
             * @enum {string}
             */
            readonly outcome: "arrived" | "unknown_host" | "unreachable" | "tls" | "slow" | "redirect" | "not_found" | "other_deployment" | "page" | "blocked" | "unavailable" | "other_program";
            /** @description HTTP status of the answer; null: there was none */
            readonly status: number | null;
            /** @description Target of a redirect, or how the connection failed; null: neither */
            readonly detail: string | null;
            /** @description Whether all addresses of the host are public, as this process resolves its name */
            readonly isPublic: boolean;
            /** @description Whether the address is https */
            readonly isSecure: boolean;
            /** @description Duration of the test in ms */
            readonly tookMs: number;
        };
        readonly NewRedemptionBatch: components["schemas"]["RedemptionBatch"] & {
            /** @description The codes, shown in this reply only */
            readonly secrets: readonly string[];
        };
        readonly RedemptionBatch: {
            readonly id: string;
            readonly note: string;
            /** @description Credit of each code, in nano-units */
            readonly amountNano: string;
            readonly currency: string;
            /** @description Number of codes in the batch */
            readonly codes: number;
            /** @description Number of codes that were redeemed */
            readonly redeemed: number;
            /** @description Who created the batch */
            readonly actor: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description When its codes expire; null: never
             */
            readonly expiresAt: string | null;
            /**
             * Format: date-time
             * @description When it was revoked; null: it was not
             */
            readonly revokedAt: string | null;
        };
        readonly Found: {
            /** @enum {string} */
            readonly kind: "request" | "key" | "model" | "account" | "channel" | "group" | "order";
            readonly id: string;
            readonly title: string;
            /** @description What tells the match from others, such as the status of a request or the provider’s number of an order */
            readonly detail: string;
            /**
             * Format: date-time
             * @description When a request ended or an order was made; null for others
             */
            readonly at: string | null;
            /** @description Account that owns it; null: none does */
            readonly account: string | null;
        };
        readonly SetAsideRecord: {
            readonly requestId: string;
            readonly account: string;
            readonly currency: string;
            /** @description What it holds of the balance, in nano-units */
            readonly heldNano: string;
            /** @description What the request costs, in nano-units; null: the record cannot be read */
            readonly costNano: string | null;
            /** @description Why the ledger refused it */
            readonly reason: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
        };
        readonly ResolvedRecord: {
            readonly requestId: string;
            /** @enum {string} */
            readonly outcome: "settled" | "discarded";
            /** @description false: this was done before, and nothing was changed; all amounts are 0 */
            readonly changed: boolean;
            readonly currency: string;
            /** @description What the record had held, in nano-units */
            readonly releasedNano: string;
            /** @description What the wallet paid, in nano-units */
            readonly chargeNano: string;
            /** @description What it could not pay, in nano-units */
            readonly writeoffNano: string;
        };
        readonly Setting: {
            /** @enum {string} */
            readonly name: "identity.signUp" | "identity.defaultGroup" | "usage.keepDays" | "history.mode" | "history.keepDays" | "notices" | "statusPage";
            /** @description Value in force */
            readonly value: string | number | boolean | null | readonly unknown[];
            /** @description Value that applies where none is set */
            readonly default: string | number | boolean | null | readonly unknown[];
            /** @description Whether the configuration file sets it, so that it cannot be changed here */
            readonly declared: boolean;
            /** @description Revision of the last change here, to be sent in If-Match; 0: nothing is set here */
            readonly revision: number;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly changedAt: string | null;
            readonly actor: string | null;
        };
        readonly Notice: {
            /** @enum {string} */
            readonly severity: "info" | "warning" | "critical";
            /** @description Text by language */
            readonly text: {
                readonly [key: string]: string;
            };
            /**
             * Format: date-time
             * @description Shown from this time on; null: at once
             */
            readonly from: string | null;
            /**
             * Format: date-time
             * @description Shown until this time; null: no end
             */
            readonly until: string | null;
        };
        readonly Webhook: {
            readonly id: string;
            /** @description Address of the receiver, without its query */
            readonly address: string;
            /** @description Events that are posted to it; null: all */
            readonly events: readonly ("ledger_closed" | "channel_disabled" | "channel_open" | "settlement_late" | "set_aside" | "records_missing" | "reconcile_difference" | "price_missing" | "archive_failing" | "export_failing" | "warning")[] | null;
            /** @description Events that are still to be delivered, counted among the latest 100 */
            readonly waiting: number;
            /** @description Latest event for this webhook; null: there was none */
            readonly last: {
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly at: string;
                /** @enum {string} */
                readonly state: "raised" | "resolved" | "test";
                readonly code: string;
                readonly subject: string | null;
                readonly delivery: {
                    /** @enum {string} */
                    readonly state: "waiting" | "delivered" | "failed";
                    readonly attempts: number;
                    readonly failure: string | null;
                } | null;
            } | null;
        };
        readonly WebhookTest: {
            /** @description Whether the receiver accepted the post */
            readonly ok: boolean;
            /** @description Why the receiver did not accept the post; null: it did */
            readonly failure: string | null;
        };
        readonly Request: {
            readonly requestId: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
            readonly account: string;
            /** @description Id of the key */
            readonly key: string;
            readonly keyName: string;
            readonly group: string;
            readonly operation: string;
            /** @description Model name that the client asked for */
            readonly model: string;
            /** @description The vendor’s own name of the model that answered; null: none did */
            readonly modelServed: string | null;
            /** @description Last channel; only for operators */
            readonly channel?: string | null;
            /** @description Its vendor; only for operators */
            readonly vendor?: string | null;
            /** @description Number of requests to channels; 0: refused before */
            readonly attempts: number;
            readonly stream: boolean;
            readonly status: number;
            /** @description Number of tokens by kind; each token is in one kind only */
            readonly tokens: {
                readonly [key: string]: number;
            };
            /** @description Number of other priced units by name, such as images; null: none */
            readonly units: {
                readonly [key: string]: number;
            } | null;
            /**
             * @description `reported`: by the vendor. `drained`: by the vendor after the client had disconnected. `counted`: by the gateway. `none`: there is no usage
             * @enum {string}
             */
            readonly usageSource: "reported" | "drained" | "counted" | "none";
            /** @description `chargeNano` as a decimal of the currency */
            readonly cost: string;
            /** @description How the cost was computed, with its numbers; null: the request was not priced */
            readonly formula: string | null;
            /** @description Amount that the account paid, in nano-units */
            readonly chargeNano: string;
            /** @description Amount that the account could not pay and that was written off, in nano-units */
            readonly writeoffNano: string;
            /** @description Cost at the vendors, in nano-units; only for operators */
            readonly vendorCostNano?: string;
            /** @description Largest amount that was held, in nano-units */
            readonly heldNano: string;
            /** @description Version of the price card; null: the request was not priced */
            readonly priceVersion: number | null;
            /** @description Multiplier of the group for this model */
            readonly multiplier: string;
            /** @description Failed requests to channels, in order; only for operators */
            readonly failedAttempts?: readonly {
                readonly [key: string]: unknown;
            }[];
            /** @description Time to the first token in ms; null: there was none */
            readonly ttftMs: number | null;
            /** @description Duration in ms */
            readonly durationMs: number;
            /** @description Error code; null: the request succeeded */
            readonly errorCode: string | null;
            /** @description Details of the error; only for operators */
            readonly errorCause?: string | null;
            /** @description Name of the client program; null: not known */
            readonly client: string | null;
            readonly clientVersion: string | null;
            /** @description Id that the vendor gave the request */
            readonly vendorRequestId: string | null;
            readonly clientAddress?: string;
            /** @description What the client labelled the request with (`x-tollgate-tag`) */
            readonly tag?: string;
            /** @description Id that the client gave the request */
            readonly clientRequestId?: string;
            /** @description Trace id of W3C Trace Context */
            readonly traceId?: string;
        };
        /** @description Estimated number of requests in the whole list; null: not the first page */
        readonly RequestEstimate: {
            readonly requests: number;
            /**
             * @description `at_most`: the filter has fields by which totals are not kept
             * @enum {string}
             */
            readonly bound: "about" | "at_most";
        } | null;
        readonly RunningRequest: {
            readonly requestId: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
            readonly account: string;
            readonly key: string;
            readonly keyName: string;
            readonly group: string;
            readonly operation: string;
            readonly model: string;
            readonly stream: boolean;
            readonly channel?: string | null;
            readonly attempts: number;
            /** @description Time in ms since the request arrived */
            readonly ageMs: number;
            /** @description Time to the first token in ms; null: none yet */
            readonly ttftMs: number | null;
            readonly inputTokens: number;
            readonly outputTokens: number;
            /** @description Cost so far, in nano-units */
            readonly costNano: string;
            /** @description Amount held, in nano-units */
            readonly heldNano: string;
        };
        /** @description null: the request was not priced */
        readonly Receipt: {
            readonly priceVersion: number;
            /** @description Model name or pattern of the price card */
            readonly pricedAs: string;
            readonly multiplier: string;
            readonly lines: readonly {
                /** @description Name of the price */
                readonly item: string;
                /** @description Number of units */
                readonly count: string;
                /** @description Price of a million units, in nano-units */
                readonly priceNano: string;
                /** @description Count, price and multiplier, multiplied and rounded down, in nano-units */
                readonly amountNano: string;
            }[];
            /** @description `totalNano` less the sum of the lines: the total is rounded up once */
            readonly roundingNano: string;
            /** @description `chargeNano` and `writeoffNano` together */
            readonly totalNano: string;
            /** @description Amount that the account paid, in nano-units */
            readonly chargeNano: string;
            /** @description Amount that was written off, in nano-units */
            readonly writeoffNano: string;
            /** @description Largest amount that was held, in nano-units */
            readonly heldNano: string;
            /** @description `heldNano` less `chargeNano`; negative: more was charged than held */
            readonly releasedNano: string;
            /** @description Id of the journal entry; null: nothing was charged */
            readonly entry: string | null;
        } | null;
        /** @description null: the request succeeded */
        readonly Blame: {
            /**
             * @description `request`: what it asks. `account`: its balance, limits or owner. `client`: it disconnected before the end
             * @enum {string}
             */
            readonly party: "request" | "account" | "client" | "gateway" | "vendor";
            /** @description Explanation for people, in English */
            readonly message: string;
            readonly charged: boolean;
            /** @description What to do, in English */
            readonly next: string;
        } | null;
        readonly Attempt: {
            /** @enum {string} */
            readonly outcome: "answered" | "failed";
            /** @description Time in ms from the arrival of the request to this attempt */
            readonly startMs?: number;
            readonly connectMs?: number;
            /** @description Time in ms from the start of the attempt to the first byte of its reply */
            readonly firstByteMs?: number;
            readonly durationMs?: number;
            /** @description What followed the failure */
            readonly then?: string;
            readonly channel?: string | null;
            /** @description Kind of the fault */
            readonly kind?: string;
            readonly status?: number;
            readonly vendorRequestId?: string;
            /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
            readonly costNano?: string;
        };
        readonly Balance: {
            readonly account: string;
            readonly currency: string;
            /** @description Nano-units that new requests may spend: `postedNano` less `heldNano` */
            readonly availableNano: string;
            /** @description Nano-units that are held for running requests */
            readonly heldNano: string;
            /** @description Balance of the wallet in the journal, in nano-units, holds included */
            readonly postedNano: string;
            /** @description Part of the balance that is unspent bonus, in nano-units */
            readonly bonusNano: string;
        };
        readonly LedgerEntry: {
            readonly id: string;
            readonly code: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
            readonly currency: string;
            /** @description Effect on the wallet in nano-units; negative: taken from it */
            readonly effectNano: string;
            /** @description Balance after the entry, in nano-units */
            readonly balanceNano: string;
            /** @description Who made the entry; null: nobody */
            readonly actor: string | null;
            readonly reason: string | null;
            /** @description Request that the entry charges; null: another entry */
            readonly requestId: string | null;
        };
        readonly SharedRequest: {
            readonly requestId: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
            readonly operation: string;
            /** @description Model name that the client asked for */
            readonly model: string;
            /** @description The vendor’s own name of the model that answered; null: none did */
            readonly modelServed: string | null;
            readonly stream: boolean;
            readonly status: number;
            /** @description Error code; null: the request succeeded */
            readonly errorCode: string | null;
            /** @description Number of tokens by kind; each token is in one kind only */
            readonly tokens: {
                readonly [key: string]: number;
            };
            /** @description Time to the first token in ms; null: there was none */
            readonly ttftMs: number | null;
            /** @description Duration in ms */
            readonly durationMs: number;
            /** @description Name of the client program; null: not known */
            readonly client: string | null;
            readonly clientVersion: string | null;
            /** @description Id that the vendor gave the request */
            readonly vendorRequestId: string | null;
            readonly blame: components["schemas"]["Blame"];
            readonly attemptList: readonly components["schemas"]["Attempt"][];
            /**
             * Format: date-time
             * @description When the link expires
             */
            readonly expiresAt: string;
        };
        readonly RoutingPreview: {
            readonly model: string;
            readonly group: string;
            /** @description Client format that is assumed; null: the group has no such model */
            readonly dialect: string | null;
            /** @description In the order of attempts; of equal priorities, the heavier comes first here */
            readonly channels: readonly {
                readonly channel: string;
                /** @description Name of the channel’s key; null: the channel has no list of keys */
                readonly key: string | null;
                /** @description The vendor’s own name of the model */
                readonly model: string;
                /** @description Format in which the vendor is asked */
                readonly dialect: string;
                /** @description Whether client and vendor use the same format, so that nothing is translated */
                readonly identity: boolean;
                readonly priority: number;
                readonly weight: number;
            }[];
            readonly leftOut: readonly {
                readonly channel: string;
                /** @description Name of the channel’s key; null: the channel has no list of keys */
                readonly key: string | null;
                readonly reason: string;
            }[];
        };
        readonly StatementMonth: {
            readonly month: string;
            readonly open: boolean;
        };
        readonly Statement: {
            readonly account: string;
            readonly name: string;
            /** @description Buyer that receipts and statements name; null: only the account */
            readonly buyer: {
                /** @description Name of the buyer */
                readonly title: string;
                /** @description Tax number; empty: none is printed */
                readonly taxNumber: string;
                /** @description Address; empty: none is printed */
                readonly address: string;
            } | null;
            readonly month: string;
            readonly timeZone: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly since: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly until: string;
            /** @description Whether the month is not over; its statement then ends now */
            readonly open: boolean;
            /**
             * Format: date-time
             * @description When this statement was made
             */
            readonly asOf: string;
            readonly currency: string;
            /** @description Balance at `since`, in nano-units */
            readonly openingNano: string;
            /** @description Balance at `until`, in nano-units */
            readonly closingNano: string;
            /** @description Sum of `entries`, in nano-units */
            readonly entriesNano: string;
            /** @description Sum of `charges`, in nano-units: `openingNano` plus `entriesNano` less `chargesNano` is `closingNano` */
            readonly chargesNano: string;
            /** @description Journal entries other than charges for requests, oldest first */
            readonly entries: readonly {
                readonly id: string;
                readonly code: string;
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly at: string;
                /** @description Effect on the wallet in nano-units; negative: taken from it */
                readonly effectNano: string;
                readonly reason: string | null;
            }[];
            readonly charges: readonly {
                readonly key: string;
                /** @description Name of the key; null: the key is deleted */
                readonly keyName: string | null;
                readonly model: string;
                /** @description Number of requests, free ones included */
                readonly requests: number;
                /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                readonly chargeNano: string;
            }[];
        };
        readonly Statistics: {
            readonly metric: string;
            readonly unit: string;
            readonly currency: string;
            readonly timeZone: string;
            readonly by: readonly string[];
            readonly interval: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly since: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly until: string;
            /** @description Begin of each interval, which ends where the next begins */
            readonly intervals: readonly string[];
            readonly series: readonly {
                /** @description Value of each dimension of `by`; empty for all other groups together */
                readonly group: {
                    readonly [key: string]: string;
                };
                /** @description Number of groups that are summed up here, since they are not shown */
                readonly otherGroups?: number;
                /** @description One value for each interval; left out for money */
                readonly values?: readonly (number | null)[];
                /** @description Value over the whole period */
                readonly total?: number | null;
                /** @description One amount in nano-units for each interval; only for money */
                readonly valuesNano?: readonly string[];
                /** @description Amount in nano-units over the whole period */
                readonly totalNano?: string;
            }[];
            /** @description All series together */
            readonly total: {
                /** @description One value for each interval; left out for money */
                readonly values?: readonly (number | null)[];
                /** @description Value over the whole period */
                readonly total?: number | null;
                /** @description One amount in nano-units for each interval; only for money */
                readonly valuesNano?: readonly string[];
                /** @description Amount in nano-units over the whole period */
                readonly totalNano?: string;
            };
            /** @description The period of the same length before; null: `compare` was not true */
            readonly previous: {
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly since: string;
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly until: string;
                readonly total: {
                    /** @description One value for each interval; left out for money */
                    readonly values?: readonly (number | null)[];
                    /** @description Value over the whole period */
                    readonly total?: number | null;
                    /** @description One amount in nano-units for each interval; only for money */
                    readonly valuesNano?: readonly string[];
                    /** @description Amount in nano-units over the whole period */
                    readonly totalNano?: string;
                };
            } | null;
        };
        readonly Breakdown: {
            readonly currency: string;
            readonly timeZone: string;
            readonly by: readonly string[];
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly since: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly until: string;
            readonly rows: readonly {
                /** @description Value of each dimension of `by`; empty for all other groups together */
                readonly group: {
                    readonly [key: string]: string;
                };
                /** @description Number of groups that are summed up here, since they are not shown */
                readonly otherGroups?: number;
                readonly requests: number;
                readonly success: number;
                readonly failed: number;
                /** @description Number of tokens by kind; each token is in one kind only */
                readonly tokens: {
                    readonly [key: string]: number;
                };
                /** @description Charges in nano-units */
                readonly spendNano: string;
                /** @description Share of the whole spend, from 0 to 1; null: nothing was spent */
                readonly share: number | null;
                /** @description Share of the requests that failed, from 0 to 1 */
                readonly errorRate: number | null;
                /** @description Share of the requests with cached input tokens, from 0 to 1 */
                readonly cacheRate: number | null;
                /** @description Write-offs in nano-units; only for operators */
                readonly writeoffNano?: string;
                /** @description Cost at the vendors in nano-units; only for operators */
                readonly vendorCostNano?: string;
            }[];
            readonly totals: {
                readonly requests: number;
                readonly success: number;
                readonly failed: number;
                /** @description Number of tokens by kind; each token is in one kind only */
                readonly tokens: {
                    readonly [key: string]: number;
                };
                /** @description Charges in nano-units */
                readonly spendNano: string;
                /** @description Share of the whole spend, from 0 to 1; null: nothing was spent */
                readonly share: number | null;
                /** @description Share of the requests that failed, from 0 to 1 */
                readonly errorRate: number | null;
                /** @description Share of the requests with cached input tokens, from 0 to 1 */
                readonly cacheRate: number | null;
                /** @description Write-offs in nano-units; only for operators */
                readonly writeoffNano?: string;
                /** @description Cost at the vendors in nano-units; only for operators */
                readonly vendorCostNano?: string;
            };
        };
        readonly StatisticsChoices: {
            readonly model: readonly string[];
            readonly key: readonly string[];
            readonly group: readonly string[];
            readonly operation: readonly string[];
            readonly statusClass: readonly string[];
            readonly tag: readonly string[];
            /** @description Only for operators */
            readonly channel?: readonly string[];
        };
        readonly Overview: {
            readonly currency: string;
            readonly timeZone: string;
            /** @description Since midnight in `timeZone` */
            readonly today: {
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly since: string;
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly until: string;
                /** @description Charges in nano-units */
                readonly spendNano: string;
                readonly requests: number;
                readonly tokens: number;
                /** @description Share of the requests that failed, from 0 to 1 */
                readonly errorRate: number | null;
                /** @description Requests with cached input tokens */
                readonly cacheHits: number;
                /** @description Share of the requests with cached input tokens, from 0 to 1 */
                readonly cacheRate: number | null;
                /** @description Median time to the first token in ms */
                readonly ttftP50Ms: number | null;
                /** @description 95th percentile of the time to the first token in ms */
                readonly ttftP95Ms: number | null;
                /** @description The period as many days earlier, with the same local times */
                readonly previous: {
                    /**
                     * Format: date-time
                     * @description Time in UTC, RFC 3339
                     */
                    readonly since: string;
                    /**
                     * Format: date-time
                     * @description Time in UTC, RFC 3339
                     */
                    readonly until: string;
                    /** @description Charges in nano-units */
                    readonly spendNano: string;
                    readonly requests: number;
                    readonly tokens: number;
                    /** @description Share of the requests that failed, from 0 to 1 */
                    readonly errorRate: number | null;
                    /** @description Requests with cached input tokens */
                    readonly cacheHits: number;
                    /** @description Share of the requests with cached input tokens, from 0 to 1 */
                    readonly cacheRate: number | null;
                    /** @description Median time to the first token in ms */
                    readonly ttftP50Ms: number | null;
                    /** @description 95th percentile of the time to the first token in ms */
                    readonly ttftP95Ms: number | null;
                };
            };
            /** @description The last 7 days in `timeZone`, today included */
            readonly days7: {
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly since: string;
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly until: string;
                /** @description Charges in nano-units */
                readonly spendNano: string;
                readonly requests: number;
                readonly tokens: number;
                /** @description Share of the requests that failed, from 0 to 1 */
                readonly errorRate: number | null;
                /** @description Requests with cached input tokens */
                readonly cacheHits: number;
                /** @description Share of the requests with cached input tokens, from 0 to 1 */
                readonly cacheRate: number | null;
                /** @description Median time to the first token in ms */
                readonly ttftP50Ms: number | null;
                /** @description 95th percentile of the time to the first token in ms */
                readonly ttftP95Ms: number | null;
                /** @description The period as many days earlier, with the same local times */
                readonly previous: {
                    /**
                     * Format: date-time
                     * @description Time in UTC, RFC 3339
                     */
                    readonly since: string;
                    /**
                     * Format: date-time
                     * @description Time in UTC, RFC 3339
                     */
                    readonly until: string;
                    /** @description Charges in nano-units */
                    readonly spendNano: string;
                    readonly requests: number;
                    readonly tokens: number;
                    /** @description Share of the requests that failed, from 0 to 1 */
                    readonly errorRate: number | null;
                    /** @description Requests with cached input tokens */
                    readonly cacheHits: number;
                    /** @description Share of the requests with cached input tokens, from 0 to 1 */
                    readonly cacheRate: number | null;
                    /** @description Median time to the first token in ms */
                    readonly ttftP50Ms: number | null;
                    /** @description 95th percentile of the time to the first token in ms */
                    readonly ttftP95Ms: number | null;
                };
            };
            /** @description The last 30 days in `timeZone`, today included */
            readonly days30: {
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly since: string;
                /**
                 * Format: date-time
                 * @description Time in UTC, RFC 3339
                 */
                readonly until: string;
                /** @description Charges in nano-units */
                readonly spendNano: string;
                readonly requests: number;
                readonly tokens: number;
                /** @description Share of the requests that failed, from 0 to 1 */
                readonly errorRate: number | null;
                /** @description Requests with cached input tokens */
                readonly cacheHits: number;
                /** @description Share of the requests with cached input tokens, from 0 to 1 */
                readonly cacheRate: number | null;
                /** @description Median time to the first token in ms */
                readonly ttftP50Ms: number | null;
                /** @description 95th percentile of the time to the first token in ms */
                readonly ttftP95Ms: number | null;
                /** @description The period as many days earlier, with the same local times */
                readonly previous: {
                    /**
                     * Format: date-time
                     * @description Time in UTC, RFC 3339
                     */
                    readonly since: string;
                    /**
                     * Format: date-time
                     * @description Time in UTC, RFC 3339
                     */
                    readonly until: string;
                    /** @description Charges in nano-units */
                    readonly spendNano: string;
                    readonly requests: number;
                    readonly tokens: number;
                    /** @description Share of the requests that failed, from 0 to 1 */
                    readonly errorRate: number | null;
                    /** @description Requests with cached input tokens */
                    readonly cacheHits: number;
                    /** @description Share of the requests with cached input tokens, from 0 to 1 */
                    readonly cacheRate: number | null;
                    /** @description Median time to the first token in ms */
                    readonly ttftP50Ms: number | null;
                    /** @description 95th percentile of the time to the first token in ms */
                    readonly ttftP95Ms: number | null;
                };
            };
            /** @description null: the figures are of all accounts */
            readonly balance: {
                readonly account: string;
                readonly currency: string;
                /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                readonly availableNano: string;
                /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                readonly heldNano: string;
                /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                readonly postedNano: string;
            } | null;
            /** @description Days for which the available balance lasts at the pace of the last 7 days; null: nothing was spent, or no balance */
            readonly runwayDays: number | null;
        };
        readonly StatusPage: {
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly at: string;
            /** @description The last 90 days in UTC, today included, oldest first */
            readonly days: readonly string[];
            /**
             * @description The worst state of any model
             * @enum {string}
             */
            readonly state: "operational" | "degraded" | "down" | "unknown";
            readonly models: readonly components["schemas"]["ModelStatus"][];
            readonly incidents: readonly components["schemas"]["Incident"][];
        };
        readonly ModelStatus: {
            readonly model: string;
            /**
             * @description State in the current and the last quarter of an hour: `operational` from 99 % success, `degraded` from 90 %, else `down`; `unknown`: fewer than 10 requests
             * @enum {string}
             */
            readonly state: "operational" | "degraded" | "down" | "unknown";
            /** @description Number of requests that succeeded or failed with 5xx; refused requests (4xx) do not count */
            readonly requests: number;
            /** @description Share of these requests that succeeded, from 0 to 1; null: there were no requests */
            readonly successRate: number | null;
            /** @description One entry for each of `days`, in the same order */
            readonly daily: readonly {
                /** @description Number of requests that succeeded or failed with 5xx; refused requests (4xx) do not count */
                readonly requests: number;
                /** @description Share of these requests that succeeded, from 0 to 1; null: there were no requests */
                readonly successRate: number | null;
            }[];
        };
        readonly Incident: {
            /** @enum {string} */
            readonly severity: "warning" | "critical";
            /** @enum {string} */
            readonly state: "scheduled" | "ongoing" | "over";
            /** @description Text by language */
            readonly text: {
                readonly [key: string]: string;
            };
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly from: string | null;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly until: string | null;
        };
        readonly Backup: {
            /** @enum {string} */
            readonly engine: "sqlite" | "postgres";
            /** @description Shell command to run on the server */
            readonly command: string;
            /** @description Page of the documentation */
            readonly documentation: string;
        };
        readonly WhatIf: {
            readonly currency: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly since: string;
            /**
             * Format: date-time
             * @description Time in UTC, RFC 3339
             */
            readonly until: string;
            /**
             * Format: date-time
             * @description Requests before this time were not priced, since only the newest 50,000 are; null: all were
             */
            readonly coveredSince: string | null;
            /** @description Whether the amounts are what would have been charged; false: another model would count tokens differently */
            readonly exact: boolean;
            readonly total: {
                readonly requests: number;
                /** @description Charges and write-offs at the time, in nano-units */
                readonly thenNano: string;
                /** @description Cost at present prices, in nano-units */
                readonly nowNano: string;
                /** @description `nowNano` less `thenNano`; positive: dearer now */
                readonly differenceNano: string;
            };
            /** @description The 100 keys with the highest cost at the time, dearest first */
            readonly keys: readonly {
                readonly key: string;
                readonly keyName: string;
                readonly requests: number;
                /** @description Charges and write-offs at the time, in nano-units */
                readonly thenNano: string;
                /** @description Cost at present prices, in nano-units */
                readonly nowNano: string;
                /** @description `nowNano` less `thenNano`; positive: dearer now */
                readonly differenceNano: string;
            }[];
            /** @description Requests that could not be priced, and are in no sum */
            readonly unpriced: readonly {
                /**
                 * @description `model`: the group does not have it, or it has no price. `group`: it no longer exists. `kind`: the model does not serve such requests. `units`: it has no price for something that was counted
                 * @enum {string}
                 */
                readonly reason: "model" | "group" | "kind" | "units";
                readonly requests: number;
                /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                readonly thenNano: string;
            }[];
        };
    };
    responses: {
        /** @description `invalid_request_error`: the request is malformed or out of range, or the vendor refused it for that; `param` names the field. The code may be more specific, such as `context_length_exceeded`, `content_filter`, `content_policy_violation` or `previous_response_not_found`. */
        readonly Invalid: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `invalid_api_key`: the key is missing, unknown, disabled or expired. */
        readonly NoKey: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `model_not_found`: the model does not exist, or the key may not use it. `unsupported_endpoint`: the interface is not offered. `not_found`: the object does not exist. */
        readonly NotFound: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `request_timeout`: the body did not arrive in time. Send the request again. */
        readonly Late: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `request_in_progress`: a request with the same `Idempotency-Key` is still running. `reply_not_kept`: the request was done, but its reply was not kept. `request_stopped`: the owner of the account or an operator stopped the request while it ran. */
        readonly Conflict: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `request_too_large`: the body, or a file or text of a form, is larger than the gateway accepts. */
        readonly TooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_media_type`: the media type of the body is not supported. */
        readonly WrongType: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `idempotency_key_reused`: the `Idempotency-Key` was used with another body or path. */
        readonly KeyReused: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `insufficient_quota`: the account cannot pay for the request; with `retry-after`, running requests hold its money. `rate_limit_exceeded`: a limit of the key or its group is reached, or every channel is rate-limited by its vendor. */
        readonly Limited: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `request_headers_too_large`: the headers are larger than the gateway accepts. */
        readonly HeadTooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `server_error`: every vendor answered with a server error, or the gateway failed. */
        readonly Failed: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `service_unavailable`: no vendor was available or could be read in time, the gateway is at its limit of running requests, or it cannot account for requests at present; `x-should-retry: false` if the model has no price. */
        readonly Unavailable: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `invalid_request_error`: the request is malformed or out of range, or the vendor refused it for that; the message names the field. */
        readonly AnthropicInvalid: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `authentication_error`: the key is missing, unknown, disabled or expired. */
        readonly AnthropicNoKey: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `billing_error`: the account cannot pay for the request; with `retry-after`, running requests hold its money. */
        readonly AnthropicBilling: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `not_found_error`: the model or the object does not exist, or the key may not use the model. */
        readonly AnthropicNotFound: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `timeout_error`: the body did not arrive in time. Send the request again. */
        readonly AnthropicLate: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `conflict_error`: a request with the same `Idempotency-Key` is still running, or was done and its reply was not kept. */
        readonly AnthropicConflict: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `request_too_large`: the body, or a file or text of a form, is larger than the gateway accepts. */
        readonly AnthropicTooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `invalid_request_error`: the media type of the body is not supported. */
        readonly AnthropicWrongType: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `invalid_request_error`: the `Idempotency-Key` was used with another body or path. */
        readonly AnthropicKeyReused: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `rate_limit_error`: a limit of the key or its group is reached, or every channel is rate-limited by its vendor. */
        readonly AnthropicLimited: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `invalid_request_error`: the headers are larger than the gateway accepts. */
        readonly AnthropicHeadTooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `api_error`: every vendor answered with a server error, or the gateway failed. */
        readonly AnthropicFailed: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `api_error`: the model has no price; a retry does not help. */
        readonly AnthropicUnavailable: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `overloaded_error`: no vendor was available or could be read in time, the gateway is at its limit of running requests, or it cannot account for requests at present. */
        readonly AnthropicOverloaded: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `invalid_request_error`: the request is malformed or out of range, or the vendor refused it for that; `details` names the field. The code may be more specific, such as `context_length_exceeded`, `content_filter`, `content_policy_violation` or `previous_response_not_found`. */
        readonly GoogleInvalid: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `invalid_api_key`: the key is missing, unknown, disabled or expired. */
        readonly GoogleNoKey: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `model_not_found`: the model does not exist, or the key may not use it. `unsupported_endpoint`: the interface is not offered. `not_found`: the object does not exist. */
        readonly GoogleNotFound: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `request_timeout`: the body did not arrive in time. Send the request again. */
        readonly GoogleLate: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `request_in_progress`: a request with the same `Idempotency-Key` is still running. `reply_not_kept`: the request was done, but its reply was not kept. `request_stopped`: the owner of the account or an operator stopped the request while it ran. */
        readonly GoogleConflict: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `request_too_large`: the body, or a file or text of a form, is larger than the gateway accepts. */
        readonly GoogleTooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `unsupported_media_type`: the media type of the body is not supported. */
        readonly GoogleWrongType: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `idempotency_key_reused`: the `Idempotency-Key` was used with another body or path. */
        readonly GoogleKeyReused: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `insufficient_quota`: the account cannot pay for the request; with `retry-after`, running requests hold its money. `rate_limit_exceeded`: a limit of the key or its group is reached, or every channel is rate-limited by its vendor. */
        readonly GoogleLimited: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `request_headers_too_large`: the headers are larger than the gateway accepts. */
        readonly GoogleHeadTooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `server_error`: every vendor answered with a server error, or the gateway failed. */
        readonly GoogleFailed: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `service_unavailable`: no vendor was available or could be read in time, the gateway is at its limit of running requests, or it cannot account for requests at present; `x-should-retry: false` if the model has no price. */
        readonly GoogleUnavailable: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `invalid_request_error`: the request is malformed or out of range, or the vendor refused it for that; `param` names the field. The code may be more specific, such as `context_length_exceeded`, `content_filter`, `content_policy_violation` or `previous_response_not_found`. */
        readonly AnyInvalid: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `invalid_api_key`: the key is missing, unknown, disabled or expired. */
        readonly AnyNoKey: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `invalid_signature`: the address was not made by this gateway. */
        readonly AnyBadSignature: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `model_not_found`: the model does not exist, or the key may not use it. `unsupported_endpoint`: the interface is not offered. `not_found`: the object does not exist. */
        readonly AnyNotFound: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `file_expired`: the address has expired. */
        readonly AnyExpired: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `upgrade_required`: this path needs a WebSocket. */
        readonly AnySocketOnly: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `request_headers_too_large`: the headers are larger than the gateway accepts. */
        readonly AnyHeadTooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `server_error`: every vendor answered with a server error, or the gateway failed. */
        readonly AnyFailed: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `service_unavailable`: no vendor was available or could be read in time, the gateway is at its limit of running requests, or it cannot account for requests at present; `x-should-retry: false` if the model has no price. */
        readonly AnyUnavailable: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description For requests with `anthropic-version`, in place of 503. */
        readonly AnyOverloaded: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly "retry-after-ms": components["headers"]["RetryAfterMs"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
    };
    parameters: {
        /** @description Unique key of the request, chosen by the client: a request that is sent again with the same key is done and charged once. */
        readonly IdempotencyKey: string;
        /** @description `true`, `false`: whether the `usage` of the reply contains its `cost`; overrides the setting of the key. `estimate`: the request is not made, and the reply is a `CostEstimate`. */
        readonly ShowCost: "true" | "false" | "estimate";
        /** @description Most that the request may cost, in units of the currency. `max_cost` in the body takes precedence. */
        readonly MaxCost: string;
        /** @description Label of the request, such as a feature or a customer of yours. Requests can be listed, and usage summed up, by label. */
        readonly Tag: string;
        /** @description Id that the client gives the request: up to 512 printable ASCII characters without blanks. It is stored with the request’s record and returned in the reply. A malformed id is ignored. */
        readonly ClientRequestId: string;
        /**
         * @description Version of Anthropic’s format: `2023-06-01` (the default) or `2026-10-21`, which has no sampling parameters.
         * @example 2023-06-01
         */
        readonly AnthropicVersion: string;
    };
    requestBodies: never;
    headers: {
        /** @description Id of the request, by which its record and its log line are found. */
        readonly RequestId: string;
        /** @description Time in ms until the first byte of the reply. */
        readonly ProcessingMs: string;
        /** @description `gateway;dur=A, vendor;dur=B`: the time in ms until the first byte, split into the gateway’s and the vendor’s. */
        readonly ServerTiming: string;
        /** @description Cost of the reply as a decimal amount in the currency; absent on streams. */
        readonly Cost: string;
        /** @description Version of the price card by which the request was charged. */
        readonly PriceVersion: string;
        /** @description Fields of the request that were removed, since the vendor or the model does not support them. */
        readonly Dropped: string;
        /** @description Present if the key or its group has this limit. */
        readonly RateLimit: string;
        /** @description Time until the whole limit is available again; present if the key or its group has this limit. */
        readonly RateLimitReset: string;
        /** @description `true`: the reply repeats that of an earlier request, which `x-tollgate-original-request` names. */
        readonly Replayed: string;
        /** @description Id of the request for which this reply was made. */
        readonly OriginalRequest: string;
        /** @description Seconds to wait before trying again. */
        readonly RetryAfter: string;
        /** @description Milliseconds to wait before trying again. */
        readonly RetryAfterMs: string;
        /** @description Whether a retry may help: `true` or `false`. */
        readonly ShouldRetry: "true" | "false";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly readKeyBalance: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Id that the client gives the request: up to 512 printable ASCII characters without blanks. It is stored with the request’s record and returned in the reply. A malformed id is ignored. */
                readonly "X-Client-Request-Id"?: components["parameters"]["ClientRequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The balance: `available` plus `held`, which running requests hold, is `posted`. */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly object: "balance";
                        readonly account: string;
                        readonly currency: string;
                        /** @description Decimal amount in the currency. */
                        readonly available: string;
                        readonly held: string;
                        readonly posted: string;
                        readonly availableNano: string;
                        readonly heldNano: string;
                        readonly postedNano: string;
                    };
                };
            };
        };
    };
    readonly listKeyUsage: {
        readonly parameters: {
            readonly query?: {
                /** @description Number of requests on a page. */
                readonly limit?: number;
                /** @description `last_id` of the previous page: the page after it is returned. */
                readonly after?: string;
                /** @description Only requests from this time on: a day in UTC, or a time with its offset. */
                readonly since?: string;
                /** @description Only requests before this time, in the same form. */
                readonly until?: string;
                /** @description Only requests that asked for this model. */
                readonly model?: string;
                /** @description Only requests with this HTTP status. */
                readonly status?: number;
                /** @description Only requests of this key: its id, or `me` for the key of this request. */
                readonly key?: string;
            };
            readonly header?: {
                /** @description Id that the client gives the request: up to 512 printable ASCII characters without blanks. It is stored with the request’s record and returned in the reply. A malformed id is ignored. */
                readonly "X-Client-Request-Id"?: components["parameters"]["ClientRequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of requests, newest first. */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly object: "list";
                        readonly data: readonly components["schemas"]["KeyUsageRow"][];
                        readonly first_id: string | null;
                        readonly last_id: string | null;
                        readonly has_more: boolean;
                    };
                };
            };
        };
    };
    readonly readKeyUsage: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Id that the client gives the request: up to 512 printable ASCII characters without blanks. It is stored with the request’s record and returned in the reply. A malformed id is ignored. */
                readonly "X-Client-Request-Id"?: components["parameters"]["ClientRequestId"];
            };
            readonly path: {
                /** @description Id of the request: `x-request-id` of its reply. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The request. */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["KeyUsageRow"];
                };
            };
        };
    };
    readonly listAccounts: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Account"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly showAccount: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AccountBalance"];
                };
            };
        };
    };
    readonly adjustBalance: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Amount as a decimal of the currency, such as `12.50` */
                    readonly amount: string;
                    /**
                     * @description Whether the amount is given to the account or taken from it
                     * @enum {string}
                     */
                    readonly direction: "credit" | "debit";
                    /** @description Id that the client chooses: an adjustment is posted once for each reference */
                    readonly reference?: string;
                    /** @description Reason, shown in the journal */
                    readonly reason: string;
                    /**
                     * @description true: creates the account if it is missing
                     * @default false
                     */
                    readonly createAccount?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Adjustment"];
                };
            };
        };
    };
    readonly readAlerts: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Alerts"];
                };
            };
        };
    };
    readonly setAlerts: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /**
                     * @description Alerts when the balance is lower, in nano-units; null: never
                     * @default null
                     */
                    readonly lowBalanceNano?: string | null;
                    /**
                     * @description Alerts when a day in `timeZone` costs more, in nano-units; null: never
                     * @default null
                     */
                    readonly daySpendNano?: string | null;
                    /**
                     * @description IANA time zone whose midnight begins a day
                     * @default UTC
                     */
                    readonly timeZone?: string;
                    /**
                     * @description Alerts when a key has spent this percentage of its spend limit; null: never
                     * @default null
                     */
                    readonly keyLimitPercent?: number | null;
                    /**
                     * @description Alerts when this percentage of the last hour’s requests failed; null: never
                     * @default null
                     */
                    readonly errorRatePercent?: number | null;
                    /**
                     * @description Address to which notices are posted, https; null: none
                     * @default null
                     */
                    readonly webhook?: string | null;
                    /**
                     * @description Address to which notices are mailed; null: none. It must be verified by a mailed code, unless it is the verified address with which the person signs in
                     * @default null
                     */
                    readonly email?: string | null;
                    /**
                     * @description true: mails a new verification code, in place of the previous one
                     * @default false
                     */
                    readonly newCode?: boolean;
                    /**
                     * @description true: replaces the webhook secret; else the previous one stays valid
                     * @default false
                     */
                    readonly newSecret?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Alerts"];
                };
            };
        };
    };
    readonly verifyMyEmail: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Code that was mailed last */
                    readonly code: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Alerts"];
                };
            };
        };
    };
    readonly listMyNotices: {
        readonly parameters: {
            readonly query?: {
                /** @description true: only notices that are not read */
                readonly unread?: boolean;
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["AlertNotice"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                        /** @description Total number of unread notices; 100 stands for 100 or more */
                        readonly unread: number;
                    };
                };
            };
        };
    };
    readonly readMyNotices: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /**
                     * @description Ids of the notices; null: all notices
                     * @default null
                     */
                    readonly ids?: readonly string[] | null;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @description Number of notices that this request marked as read */
                        readonly read: number;
                    };
                };
            };
        };
    };
    readonly readAutoTopUp: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AutoTopUp"];
                };
            };
        };
    };
    readonly setAutoTopUp: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Balance in nano-units below which a payment is made */
                    readonly thresholdNano: string;
                    /** @description Amount of one payment, in the provider’s currency */
                    readonly amount: string;
                    /** @description Most that is paid in a calendar month in UTC, in the provider’s currency */
                    readonly monthMost: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AutoTopUp"];
                };
            };
        };
    };
    readonly removeAutoTopUp: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly listChannels: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Channel"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly createChannel: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ChannelInput"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    readonly listVendors: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Vendor"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly exportChannels: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly channels: readonly {
                            readonly [key: string]: unknown;
                        }[];
                    };
                };
            };
        };
    };
    readonly importChannels: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Channels in the form of the configuration file’s `channels` */
                    readonly channels: readonly ({
                        readonly id: string;
                    } & {
                        readonly [key: string]: unknown;
                    })[];
                    /**
                     * @description true: stores the channels; else only a preview
                     * @default false
                     */
                    readonly apply?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChannelImport"];
                };
            };
        };
    };
    readonly changeChannels: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Ids of the channels to change */
                    readonly ids?: readonly string[];
                    /** @description Tag of the channels to change, in place of `ids` */
                    readonly tag?: string;
                    /** @description New values; fields that are left out are not changed */
                    readonly changes: {
                        /** @enum {string} */
                        readonly state?: "enabled" | "draining" | "disabled";
                        readonly priority?: number;
                        readonly weight?: number;
                        /** @description Groups that the channels serve; null: every group */
                        readonly groups?: readonly string[] | null;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Channel"][];
                    };
                };
            };
        };
    };
    readonly showChannel: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    readonly deleteChannel: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly updateChannel: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ChannelChanges"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    readonly setChannelState: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /**
                     * @description New state of the channel
                     * @enum {string}
                     */
                    readonly state: "enabled" | "draining" | "disabled";
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    readonly listChannelVersions: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ConfigurationVersion"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly rollbackChannel: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Version to restore */
                    readonly version: number;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    readonly testChannel: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /** @description Public name of the model to test with; left out: the first of the channel that can be tested */
                    readonly model?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChannelTest"];
                };
            };
        };
    };
    readonly askChannelBalance: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChannelBalance"];
                };
            };
        };
    };
    readonly testChannelDraft: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly channel: components["schemas"]["ChannelInput"];
                    /** @description Public name of the model to test with; left out: the first of the channel that can be tested */
                    readonly model?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChannelTest"];
                };
            };
        };
    };
    readonly listVendorModels: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["VendorModels"];
                };
            };
        };
    };
    readonly listDraftModels: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly channel: components["schemas"]["ChannelInput"];
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["VendorModels"];
                };
            };
        };
    };
    readonly listArrivals: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
                /** @description Begin of the period: a time such as 2027-01-31T08:00:00Z, or a span before now such as 1h or 2d */
                readonly since?: string;
                /** @description Most items in the list */
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Arrival"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly followArrivals: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": string;
                };
            };
        };
    };
    readonly listConfiguredGroups: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ConfigurationItem"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly showConfiguredGroup: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ConfigurationItem"];
                };
            };
        };
    };
    readonly listGroupVersions: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ConfigurationVersion"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly listGroups: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Group"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly createGroup: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["GroupInput"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ConfigurationItem"];
                };
            };
        };
    };
    readonly deleteGroup: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly updateGroup: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["GroupChanges"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ConfigurationItem"];
                };
            };
        };
    };
    readonly rollbackGroup: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Version to restore */
                    readonly version: number;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ConfigurationItem"];
                };
            };
        };
    };
    readonly listConfiguredModels: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ConfigurationItem"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly showConfiguredModel: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ConfigurationItem"];
                };
            };
        };
    };
    readonly listModelVersions: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ConfigurationVersion"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly listModels: {
        readonly parameters: {
            readonly query?: {
                /** @description Group whose prices are shown; left out: the caller’s first group, or for visitors the first public group */
                readonly group?: string;
                /** @description Part of the model’s name or of the vendor’s, in any case */
                readonly search?: string;
                /** @description Only models of this kind */
                readonly kind?: "chat" | "completion" | "embedding" | "image" | "transcription" | "translation" | "speech" | "video" | "moderation" | "rerank" | "realtime";
                /** @description Only models of this vendor */
                readonly vendor?: string;
                /** @description Only models that take this kind of input */
                readonly modality?: "text" | "image" | "audio" | "video";
                /** @description Only models with at least this context window, in tokens */
                readonly context?: number;
                /** @description Whether the models can call tools */
                readonly tools?: boolean;
                /** @description Whether the models take images */
                readonly vision?: boolean;
                /** @description Whether the models reason before they reply */
                readonly reasoning?: boolean;
                /** @description Whether the models can follow a JSON schema */
                readonly jsonSchema?: boolean;
                /** @description Only models that can be called at this path, such as `/v1/messages` */
                readonly endpoint?: string;
                /** @description Sort key; prices and latency ascending, the newest and the fastest first */
                readonly sort?: "name" | "price" | "outputPrice" | "newest" | "latency" | "throughput";
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Model"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly createModel: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ModelInput"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ConfigurationItem"];
                };
            };
        };
    };
    readonly showModel: {
        readonly parameters: {
            readonly query?: {
                /** @description Group whose prices are shown; left out: the caller’s first group, or for visitors the first public group */
                readonly group?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description Name of the model; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Model"];
                };
            };
        };
    };
    readonly deleteModel: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly updateModel: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ModelChanges"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ConfigurationItem"];
                };
            };
        };
    };
    readonly rollbackModel: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the item; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Version to restore */
                    readonly version: number;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ConfigurationItem"];
                };
            };
        };
    };
    readonly listEvents: {
        readonly parameters: {
            readonly query?: {
                /** @description Only events of this actor, such as `account root`, or of this id alone: `root` */
                readonly actor?: string;
                /** @description Only events of this operation id, such as `updateKey` */
                readonly action?: string;
                /** @description Text to search in all fields of an event */
                readonly text?: string;
                /** @description Begin of the period: a time such as 2027-01-31T08:00:00Z, or a span before now such as 1h or 2d */
                readonly since?: string;
                /** @description End of the period, not included, such as 2027-01-31T08:00:00Z */
                readonly until?: string;
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["OperatorEvent"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly exportEvents: {
        readonly parameters: {
            readonly query?: {
                /** @description Only events of this actor, such as `account root`, or of this id alone: `root` */
                readonly actor?: string;
                /** @description Only events of this operation id, such as `updateKey` */
                readonly action?: string;
                /** @description Text to search in all fields of an event */
                readonly text?: string;
                /** @description Begin of the period: a time such as 2027-01-31T08:00:00Z, or a span before now such as 1h or 2d */
                readonly since?: string;
                /** @description End of the period, not included, such as 2027-01-31T08:00:00Z */
                readonly until?: string;
                /** @description CSV, or JSON with one object on each line */
                readonly format?: "csv" | "json";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/csv": string;
                    readonly "application/x-ndjson": string;
                };
            };
        };
    };
    readonly showEvent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OperatorEvent"];
                };
            };
        };
    };
    readonly listGroupUses: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["GroupUse"][];
                        /** @description Number of accounts that may make keys of every group */
                        readonly peopleOfAll: number;
                        readonly currency: string;
                    };
                };
            };
        };
    };
    readonly readHistoryChoice: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["HistoryChoice"];
                };
            };
        };
    };
    readonly setHistoryChoice: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /**
                     * @description What is kept: nothing (`off`), facts without bodies (`metadata`), bodies that only the account can open (`sealed`), or bodies (`full`)
                     * @enum {string}
                     */
                    readonly mode: "off" | "metadata" | "sealed" | "full";
                    /**
                     * @description For how many days messages are kept; null: as the operator set
                     * @default null
                     */
                    readonly retentionDays?: number | null;
                    /**
                     * @description X25519 public key, base64url, to which bodies are sealed; mode `sealed` needs it
                     * @default null
                     */
                    readonly publicKey?: string | null;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["HistoryChoice"];
                };
            };
        };
    };
    readonly exportMyData: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/zip": string;
                };
            };
        };
    };
    readonly listHistory: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the request */
                readonly id?: string;
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
                /** @description Id of the key */
                readonly key?: string;
                /** @description Model name that the client asked for */
                readonly model?: string;
                /** @description Whether bodies are kept */
                readonly hasBody?: boolean;
                /** @description Text to search in open bodies of the own account */
                readonly text?: string;
                /** @description Begin of the period: a time such as 2027-01-31T08:00:00Z, or a span before now such as 1h or 2d */
                readonly since?: string;
                /** @description End of the period, not included, such as 2027-01-31T08:00:00Z */
                readonly until?: string;
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["HistorySummary"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly deleteHistory: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account */
                readonly account?: string;
                /** @description Begin of the period: a time such as 2027-01-31T08:00:00Z, or a span before now such as 1h or 2d */
                readonly since?: string;
                /** @description End of the period, not included, such as 2027-01-31T08:00:00Z */
                readonly until?: string;
                /** @description true: deletes all messages of the account */
                readonly all?: boolean;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @description Number of messages that were deleted */
                        readonly deleted: number;
                    };
                };
            };
        };
    };
    readonly readHistory: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["HistoryMessage"];
                };
            };
        };
    };
    readonly deleteMessage: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly readHistoryBlob: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
                readonly blob: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": string;
                    readonly "image/*": string;
                    readonly "audio/*": string;
                    readonly "video/*": string;
                    readonly "application/pdf": string;
                };
            };
        };
    };
    readonly inspectHistory: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["HistoryMessage"];
                };
            };
        };
    };
    readonly inspectHistoryBlob: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
                readonly blob: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": string;
                    readonly "image/*": string;
                    readonly "audio/*": string;
                    readonly "video/*": string;
                    readonly "application/pdf": string;
                };
            };
        };
    };
    readonly listKeys: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
                /** @description Only these keys, by id, at most 200, separated by commas */
                readonly ids?: string;
                /** @description Only keys of this group */
                readonly group?: string;
                /** @description Only keys with this status */
                readonly status?: "active" | "disabled" | "expired";
                /** @description Part of the name or of the last four characters, in any case */
                readonly search?: string;
                /** @description Sort key, `created` by default; `spend`: charges of this month in UTC */
                readonly sort?: "created" | "name" | "lastUsed" | "spend" | "expiry";
                /** @description Ascending (the default) or descending */
                readonly order?: "asc" | "desc";
                /** @description Whether keys that the playground made are listed; `without` by default */
                readonly playground?: "without" | "with" | "only";
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Key"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly createKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Id of the account; left out: the own account */
                    readonly account?: string;
                    /** @description Group of models that the key may use; left out: `default`, or else the first that the account may use */
                    readonly group?: string;
                    /** @description Name for people */
                    readonly name: string;
                    /** @description When the key expires; null: never */
                    readonly expiresAt?: string | null;
                    /** @description Models of the group that the key may use, by name or by a pattern ending in `*`; null: all */
                    readonly models?: readonly string[] | null;
                    /** @description Models that the key may not use, by name or by a pattern ending in `*`; null: none */
                    readonly deniedModels?: readonly string[] | null;
                    /** @description IP addresses and ranges from which the key is accepted; null: any */
                    readonly addresses?: readonly string[] | null;
                    /** @description Most requests in a minute; null: no limit */
                    readonly requestsPerMinute?: number | null;
                    /** @description Most tokens in a minute; null: no limit */
                    readonly tokensPerMinute?: number | null;
                    /** @description Most requests that run at the same time; null: no limit */
                    readonly concurrentRequests?: number | null;
                    /** @description Spend limit; null: none */
                    readonly spendLimit?: {
                        /** @description Most that may be spent in a period, as a decimal of the currency */
                        readonly amount?: string;
                        /** @description The same in nano-units, in place of `amount` */
                        readonly amountNano?: string;
                        /**
                         * @description `never`: one limit for all time
                         * @default never
                         * @enum {string}
                         */
                        readonly period?: "day" | "week" | "month" | "never";
                        /** @description IANA time zone whose midnight begins a period; UTC by default */
                        readonly timeZone?: string | null;
                    } | null;
                    /**
                     * @description What is kept of the messages of this key; null: as the account chose
                     * @enum {string|null}
                     */
                    readonly historyMode?: "off" | "metadata" | "full" | "sealed" | null;
                    /**
                     * @description Whether replies contain their cost unless the request says otherwise
                     * @default false
                     */
                    readonly showCost?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["KeyWithSecret"];
                };
            };
        };
    };
    readonly summarizeKeys: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["KeySummary"];
                };
            };
        };
    };
    readonly showKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Key"];
                };
            };
        };
    };
    readonly deleteKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly updateKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Name for people */
                    readonly name?: string;
                    /** @description Group of models that the key may use */
                    readonly group?: string;
                    /** @description When the key expires; null: never */
                    readonly expiresAt?: string | null;
                    /** @description Models of the group that the key may use, by name or by a pattern ending in `*`; null: all */
                    readonly models?: readonly string[] | null;
                    /** @description Models that the key may not use, by name or by a pattern ending in `*`; null: none */
                    readonly deniedModels?: readonly string[] | null;
                    /** @description IP addresses and ranges from which the key is accepted; null: any */
                    readonly addresses?: readonly string[] | null;
                    /** @description Most requests in a minute; null: no limit */
                    readonly requestsPerMinute?: number | null;
                    /** @description Most tokens in a minute; null: no limit */
                    readonly tokensPerMinute?: number | null;
                    /** @description Most requests that run at the same time; null: no limit */
                    readonly concurrentRequests?: number | null;
                    /** @description Spend limit; null: none */
                    readonly spendLimit?: {
                        /** @description Most that may be spent in a period, as a decimal of the currency */
                        readonly amount?: string;
                        /** @description The same in nano-units, in place of `amount` */
                        readonly amountNano?: string;
                        /**
                         * @description `never`: one limit for all time
                         * @default never
                         * @enum {string}
                         */
                        readonly period?: "day" | "week" | "month" | "never";
                        /** @description IANA time zone whose midnight begins a period; UTC by default */
                        readonly timeZone?: string | null;
                    } | null;
                    /**
                     * @description What is kept of the messages of this key; null: as the account chose
                     * @enum {string|null}
                     */
                    readonly historyMode?: "off" | "metadata" | "full" | "sealed" | null;
                    /** @description Whether replies contain their cost unless the request says otherwise */
                    readonly showCost?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Key"];
                };
            };
        };
    };
    readonly rotateKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /**
                     * @description For how many seconds the previous secret keeps working
                     * @default 86400
                     */
                    readonly overlapSeconds?: number;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["KeyWithSecret"];
                };
            };
        };
    };
    readonly disableKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Key"];
                };
            };
        };
    };
    readonly enableKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Key"];
                };
            };
        };
    };
    readonly showKeyImpact: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["KeyImpact"];
                };
            };
        };
    };
    readonly testKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /** @description Client address to test; left out: the key’s address list is not tested */
                    readonly address?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["KeyTest"];
                };
            };
        };
    };
    readonly listManagementKeys: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ManagementKey"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly createManagementKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Name for people */
                    readonly name: string;
                    /**
                     * @description Id of the account that the key is bound to; null: the own account, or for operators the whole deployment
                     * @default null
                     */
                    readonly account?: string | null;
                    /** @description `read`: operations that change nothing. `write`: operations that change something */
                    readonly scopes: readonly ("read" | "write")[];
                    /** @description When the key expires; null: never */
                    readonly expiresAt?: string | null;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ManagementKeyWithSecret"];
                };
            };
        };
    };
    readonly showManagementKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ManagementKey"];
                };
            };
        };
    };
    readonly deleteManagementKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly updateManagementKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Name for people */
                    readonly name?: string;
                    /** @description `read`: operations that change nothing. `write`: operations that change something */
                    readonly scopes?: readonly ("read" | "write")[];
                    /** @description When the key expires; null: never */
                    readonly expiresAt?: string | null;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ManagementKey"];
                };
            };
        };
    };
    readonly disableManagementKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ManagementKey"];
                };
            };
        };
    };
    readonly enableManagementKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ManagementKey"];
                };
            };
        };
    };
    readonly showMe: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    readonly deleteMe: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Id of the account, as a confirmation */
                    readonly confirm: string;
                    /**
                     * @description Whether a remaining balance may be lost
                     * @default false
                     */
                    readonly forfeit?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly updateMe: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Name of the person; empty: none */
                    readonly name?: string | "";
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    readonly listMySessions: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Session"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly endMySessions: {
        readonly parameters: {
            readonly query?: {
                /** @description true: also ends the session of this request */
                readonly everywhere?: "true" | "false";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @description Number of sessions that were ended */
                        readonly ended: number;
                    };
                };
            };
        };
    };
    readonly endMySession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly listMyIdentities: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Identity"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly unlinkMyIdentity: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly listModelChoices: {
        readonly parameters: {
            readonly query?: {
                /** @description Group whose prices are shown; left out: the caller’s first group, or for visitors the first public group */
                readonly group?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly kinds: readonly ("chat" | "completion" | "embedding" | "image" | "transcription" | "translation" | "speech" | "video" | "moderation" | "rerank" | "realtime")[];
                        readonly vendors: readonly string[];
                        readonly endpoints: readonly string[];
                    };
                };
            };
        };
    };
    readonly listModelPrices: {
        readonly parameters: {
            readonly query?: {
                /** @description Group whose prices are shown; left out: the caller’s first group, or for visitors the first public group */
                readonly group?: string;
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description Name of the model; a slash in it is written `%2F` */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["PriceChange"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly priceFeedJSON: {
        readonly parameters: {
            readonly query?: {
                /** @description Group whose prices are shown; left out: the caller’s first group, or for visitors the first public group */
                readonly group?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/feed+json": unknown;
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly priceFeedRSS: {
        readonly parameters: {
            readonly query?: {
                /** @description Group whose prices are shown; left out: the caller’s first group, or for visitors the first public group */
                readonly group?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/rss+xml": string;
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly readOperations: {
        readonly parameters: {
            readonly query?: {
                /** @description IANA time zone whose midnight begins a day */
                readonly timeZone?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Operations"];
                };
            };
        };
    };
    readonly readPaymentOffer: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
                /** @description Amount for which `asked` shows credit and bonus */
                readonly amount?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PaymentOffer"];
                };
            };
        };
    };
    readonly listOrders: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
                /** @description Only orders in this state */
                readonly state?: "created" | "shown" | "paid" | "credited" | "part_refunded" | "refunded" | "expired" | "closed" | "disputed";
                /** @description Only orders of this payment provider */
                readonly provider?: "alipay" | "wechatpay" | "stripe";
                /** @description true: only orders with a `flag` */
                readonly flagged?: boolean;
                /** @description true: only orders that are open for more than two minutes */
                readonly stuck?: boolean;
                /** @description Id of the order, or the provider’s number of a payment */
                readonly number?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Order"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly createOrder: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Payment provider, from the offer */
                    readonly provider: string;
                    /** @description Payment method of the provider; left out: its first method */
                    readonly method?: string;
                    /** @description Amount to pay, in the provider’s currency */
                    readonly amount: string;
                    /** @description Id that the client chooses for this order: the same `attempt` gives the same order */
                    readonly attempt: string;
                    /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                    readonly account?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Order"];
                };
            };
        };
    };
    readonly readOrder: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OrderDetails"];
                };
            };
        };
    };
    readonly checkOrder: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Order"];
                };
            };
        };
    };
    readonly cancelOrder: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Order"];
                };
            };
        };
    };
    readonly followOrder: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": string;
                };
            };
        };
    };
    readonly comparePaymentBill: {
        readonly parameters: {
            readonly query: {
                /** @description Payment provider */
                readonly provider: "alipay" | "wechatpay" | "stripe";
                /** @description Day of the bill, in China’s time zone */
                readonly day: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PaymentBill"];
                };
            };
        };
    };
    readonly planRefund: {
        readonly parameters: {
            readonly query: {
                /** @description Amount to refund, in the currency of the order */
                readonly amount: string;
            };
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RefundPlan"];
                };
            };
        };
    };
    readonly refundOrder: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Id that the client chooses for this refund: the same id gives the same refund; left out: a new refund */
                    readonly refund?: string;
                    /** @description Amount to refund, in the currency of the order; left out: all that is left */
                    readonly amount?: string;
                    /** @description Reason, for the records */
                    readonly reason: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refund"];
                };
            };
        };
    };
    readonly notifyPayment: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly provider: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": unknown;
                readonly "application/x-www-form-urlencoded": string;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                    readonly "application/json": unknown;
                };
            };
        };
    };
    readonly continueOrder: {
        readonly parameters: {
            readonly query: {
                /** @description Code that WeChat gives the customer’s browser */
                readonly code: string;
                /** @description Value from the address that led to WeChat; names the order */
                readonly state: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": string;
                };
            };
        };
    };
    readonly listPeople: {
        readonly parameters: {
            readonly query?: {
                /** @description Text to search */
                readonly search?: string;
                /** @description Only people with this role */
                readonly role?: "user" | "admin" | "auditor";
                /** @description Only people with this status; left out: all but deleted ones */
                readonly status?: "active" | "suspended" | "deleted";
                /** @description Sort key; the newest, largest or latest first */
                readonly sort?: "newest" | "spend" | "balance" | "lastSeen";
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ListedPerson"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly showPerson: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    readonly deletePerson: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly updatePerson: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Name of the person; empty: none */
                    readonly name?: string | "";
                    /**
                     * @description Role of the person
                     * @enum {string}
                     */
                    readonly role?: "user" | "admin" | "auditor";
                    /** @description Groups for which the account may make keys; keys it has keep their groups. null: all groups */
                    readonly groups?: readonly string[] | null;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    readonly suspendPerson: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    readonly resumePerson: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    readonly listInvitations: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Invitation"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly createInvitation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /**
                     * @description Note for operators
                     * @default
                     */
                    readonly note?: string | "";
                    /**
                     * @description Role of the account that it creates
                     * @default user
                     * @enum {string}
                     */
                    readonly role?: "user" | "admin" | "auditor";
                    /**
                     * @description Groups that the account may use; null: the default group of new accounts
                     * @default null
                     */
                    readonly groups?: readonly string[] | null;
                    /**
                     * @description Days after which it expires
                     * @default 7
                     */
                    readonly days?: number;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Invitation"] & {
                        /** @description Code of the invitation, shown in this reply only */
                        readonly code: string;
                    };
                };
            };
        };
    };
    readonly revokeInvitation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly createPlaygroundKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /** @description Group of models that the key may use; left out: `default`, or else the first that the account may use */
                    readonly group?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PlaygroundKey"];
                };
            };
        };
    };
    readonly readPreferences: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Preferences"];
                };
            };
        };
    };
    readonly setPreferences: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /**
                     * @description Language of the console; null: the browser’s
                     * @default null
                     * @enum {string|null}
                     */
                    readonly language?: "en" | "zh-CN" | null;
                    /**
                     * @description Colours of the console
                     * @default system
                     * @enum {string}
                     */
                    readonly theme?: "system" | "light" | "dark";
                    /**
                     * @description Height of table rows
                     * @default comfortable
                     * @enum {string}
                     */
                    readonly density?: "comfortable" | "compact";
                    /**
                     * @description IANA time zone in which times are shown; null: the browser’s
                     * @default null
                     */
                    readonly timeZone?: string | null;
                    /**
                     * @description Saved views of pages, by name
                     * @default []
                     */
                    readonly views?: readonly {
                        readonly name: string;
                        readonly page: string;
                        readonly search: string;
                        readonly columns?: {
                            readonly [key: string]: boolean;
                        };
                    }[];
                    /**
                     * @description Settings of each table, by its id
                     * @default {}
                     */
                    readonly columns?: {
                        readonly [key: string]: unknown;
                    };
                    /**
                     * @description Buyer that receipts and statements name; null: only the account
                     * @default null
                     */
                    readonly buyer?: {
                        /** @description Name of the buyer */
                        readonly title: string;
                        /** @description Tax number; empty: none is printed */
                        readonly taxNumber: string;
                        /** @description Address; empty: none is printed */
                        readonly address: string;
                    } | null;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Preferences"];
                };
            };
        };
    };
    readonly listPrices: {
        readonly parameters: {
            readonly query?: {
                /** @description Only cards of this model */
                readonly model?: string;
                /** @description Part of the model’s name, in any case */
                readonly search?: string;
                /** @description true: also replaced and scheduled cards */
                readonly all?: boolean;
                /** @description true: only cards that have not taken effect yet */
                readonly scheduled?: boolean;
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ListedPriceCard"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly setPrices: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Name of the model */
                    readonly model: string;
                    /** @description Decimal price of a million units in the currency, by the name of the price */
                    readonly prices: {
                        readonly [key: string]: string;
                    };
                    /** @description When the prices take effect; left out: now */
                    readonly from?: string;
                    /** @description Where the prices come from */
                    readonly source: string;
                    /**
                     * @description Whether a price may change more than tenfold, or to or from 0
                     * @default false
                     */
                    readonly allowLarge?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PriceChangeMade"];
                };
            };
        };
    };
    readonly listMissingPrices: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["MissingPrice"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly listShippedPriceDifferences: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ShippedPriceDifference"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly readPriceEffect: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Name of the model */
                    readonly model: string;
                    /** @description Decimal price of a million units in the currency, by the name of the price */
                    readonly prices: {
                        readonly [key: string]: string;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PriceEffect"];
                };
            };
        };
    };
    readonly cancelPrices: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Name of the model */
                    readonly model: string;
                    /** @description Version of the scheduled card */
                    readonly version: number;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PriceCard"];
                };
            };
        };
    };
    readonly withdrawPrices: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Name of the model */
                    readonly model: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PriceCard"];
                };
            };
        };
    };
    readonly rollbackPrices: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Name of the model */
                    readonly model: string;
                    /** @description Version to restore; left out: the card before the one in force */
                    readonly version?: number;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly card: components["schemas"]["PriceCard"];
                        /** @description Whether the configuration file prices the model, so that the card takes effect only once it no longer does */
                        readonly isInFile: boolean;
                    };
                };
            };
        };
    };
    readonly importPrices: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Price document, as text */
                    readonly document: string;
                    /** @description Vendor whose prices are imported */
                    readonly vendor?: string;
                    /** @description Only this model, or models that match this pattern ending in `*` */
                    readonly model?: string;
                    /**
                     * @description true: stores the prices; else only a preview
                     * @default false
                     */
                    readonly apply?: boolean;
                    /**
                     * @description Whether a price may change more than tenfold, or to or from 0
                     * @default false
                     */
                    readonly allowLarge?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PriceImport"];
                };
            };
        };
    };
    readonly reconcile: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Begin of the period: a time such as 2027-01-31T08:00:00Z, or a span before now such as 1h or 2d */
                    readonly since: string;
                    /** @description End of the period, not included, such as 2027-01-31T08:00:00Z */
                    readonly until?: string;
                    /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                    readonly account?: string;
                    /** @description `next` of the previous answer; left out: from the begin of the period */
                    readonly cursor?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Reconciled"];
                };
            };
        };
    };
    readonly readOrderReceipt: {
        readonly parameters: {
            readonly query?: {
                /** @description Format of the reply */
                readonly format?: "json" | "html";
                /** @description Language of the page */
                readonly language?: "en" | "zh-CN";
            };
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OrderReceipt"];
                    readonly "text/html": string;
                };
            };
        };
    };
    readonly readPaymentHealth: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PaymentHealth"];
                };
            };
        };
    };
    readonly testPaymentCallback: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly provider: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CallbackTest"];
                };
            };
        };
    };
    readonly listRedemptionBatches: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["RedemptionBatch"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly createRedemptionBatch: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Number of codes */
                    readonly codes: number;
                    /** @description Credit of each code, as a decimal of the currency */
                    readonly amount: string;
                    /**
                     * @description Note for operators
                     * @default
                     */
                    readonly note?: string;
                    /** @description When the codes expire; left out: never */
                    readonly expiresAt?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NewRedemptionBatch"];
                };
            };
        };
    };
    readonly revokeRedemptionBatch: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly id: string;
                        /**
                         * Format: date-time
                         * @description Time in UTC, RFC 3339
                         */
                        readonly revokedAt: string;
                    };
                };
            };
        };
    };
    readonly redeemCode: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Redemption code */
                    readonly code: string;
                    /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                    readonly account?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly account: string;
                        /** @description Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer */
                        readonly amountNano: string;
                        readonly currency: string;
                    };
                };
            };
        };
    };
    readonly search: {
        readonly parameters: {
            readonly query: {
                /** @description Id or text to search */
                readonly q: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Found"][];
                    };
                };
            };
        };
    };
    readonly listSetAsides: {
        readonly parameters: {
            readonly query?: {
                /** @description At most this many */
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["SetAsideRecord"][];
                    };
                };
            };
        };
    };
    readonly settleSetAside: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ResolvedRecord"];
                };
            };
        };
    };
    readonly discardSetAside: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Why it is never charged; kept with the record */
                    readonly reason: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ResolvedRecord"];
                };
            };
        };
    };
    readonly listSettings: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Setting"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly showSetting: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly name: "identity.signUp" | "identity.defaultGroup" | "usage.keepDays" | "history.mode" | "history.keepDays" | "notices" | "statusPage";
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Setting"];
                };
            };
        };
    };
    readonly setSetting: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly name: "identity.signUp" | "identity.defaultGroup" | "usage.keepDays" | "history.mode" | "history.keepDays" | "notices" | "statusPage";
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Value in the form of the configuration file */
                    readonly value?: unknown;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Setting"];
                };
            };
        };
    };
    readonly unsetSetting: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly name: "identity.signUp" | "identity.defaultGroup" | "usage.keepDays" | "history.mode" | "history.keepDays" | "notices" | "statusPage";
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Setting"];
                };
            };
        };
    };
    readonly listNotices: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Notice"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly listWebhooks: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Webhook"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly testWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookTest"];
                };
            };
        };
    };
    readonly listRequests: {
        readonly parameters: {
            readonly query?: {
                /** @description Only the request with this id */
                readonly id?: string;
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
                /** @description Only requests of this key, by its id */
                readonly key?: string;
                /** @description Only requests that asked for this model */
                readonly model?: string;
                /** @description Only requests answered by this model, by the vendor’s name */
                readonly modelServed?: string;
                /** @description Only requests of this group */
                readonly group?: string;
                /** @description Only requests of this operation, such as `chat` */
                readonly operation?: string;
                /** @description Only requests of this channel; only for operators */
                readonly channel?: string;
                /** @description Only requests of this client program */
                readonly client?: string;
                /** @description Only requests to which the vendor gave this id */
                readonly vendorRequestId?: string;
                /** @description Only requests that the client labelled so (`x-tollgate-tag`) */
                readonly tag?: string;
                /** @description Only requests that failed with this code */
                readonly errorCode?: string;
                /** @description true: only streams; false: only others */
                readonly stream?: "true" | "false";
                /** @description Only requests with this HTTP status */
                readonly status?: string;
                /** @description Only requests with a status of this class */
                readonly statusClass?: "1xx" | "2xx" | "3xx" | "4xx" | "5xx";
                /** @description ok: only requests answered in full; failed: only those that were not; interrupted: only those that failed after their status was sent */
                readonly outcome?: "ok" | "failed" | "interrupted";
                /** @description Only requests that were charged at least this, as a decimal of the currency */
                readonly minCost?: string;
                /** @description Only requests that took at least this long, in ms */
                readonly minLatencyMs?: string;
                /** @description Begin of the period: a time such as 2027-01-31T08:00:00Z, or a span before now such as 1h or 2d */
                readonly since?: string;
                /** @description End of the period, not included, such as 2027-01-31T08:00:00Z */
                readonly until?: string;
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Request"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                        readonly estimate: components["schemas"]["RequestEstimate"];
                    };
                };
            };
        };
    };
    readonly followRequests: {
        readonly parameters: {
            readonly query?: {
                /** @description Only the request with this id */
                readonly id?: string;
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
                /** @description Only requests of this key, by its id */
                readonly key?: string;
                /** @description Only requests that asked for this model */
                readonly model?: string;
                /** @description Only requests answered by this model, by the vendor’s name */
                readonly modelServed?: string;
                /** @description Only requests of this group */
                readonly group?: string;
                /** @description Only requests of this operation, such as `chat` */
                readonly operation?: string;
                /** @description Only requests of this channel; only for operators */
                readonly channel?: string;
                /** @description Only requests of this client program */
                readonly client?: string;
                /** @description Only requests to which the vendor gave this id */
                readonly vendorRequestId?: string;
                /** @description Only requests that the client labelled so (`x-tollgate-tag`) */
                readonly tag?: string;
                /** @description Only requests that failed with this code */
                readonly errorCode?: string;
                /** @description true: only streams; false: only others */
                readonly stream?: "true" | "false";
                /** @description Only requests with this HTTP status */
                readonly status?: string;
                /** @description Only requests with a status of this class */
                readonly statusClass?: "1xx" | "2xx" | "3xx" | "4xx" | "5xx";
                /** @description ok: only requests answered in full; failed: only those that were not; interrupted: only those that failed after their status was sent */
                readonly outcome?: "ok" | "failed" | "interrupted";
                /** @description Only requests that were charged at least this, as a decimal of the currency */
                readonly minCost?: string;
                /** @description Only requests that took at least this long, in ms */
                readonly minLatencyMs?: string;
                /** @description Begin of the period: a time such as 2027-01-31T08:00:00Z, or a span before now such as 1h or 2d */
                readonly since?: string;
                /** @description End of the period, not included, such as 2027-01-31T08:00:00Z */
                readonly until?: string;
                /** @description Most requests that are sent at a time; older ones are left out */
                readonly most?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": string;
                };
            };
        };
    };
    readonly listRunning: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["RunningRequest"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly stopRequest: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly requestId: string;
                        /** @enum {boolean} */
                        readonly stopped: true;
                    };
                };
            };
        };
    };
    readonly exportRequests: {
        readonly parameters: {
            readonly query?: {
                /** @description Only the request with this id */
                readonly id?: string;
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
                /** @description Only requests of this key, by its id */
                readonly key?: string;
                /** @description Only requests that asked for this model */
                readonly model?: string;
                /** @description Only requests answered by this model, by the vendor’s name */
                readonly modelServed?: string;
                /** @description Only requests of this group */
                readonly group?: string;
                /** @description Only requests of this operation, such as `chat` */
                readonly operation?: string;
                /** @description Only requests of this channel; only for operators */
                readonly channel?: string;
                /** @description Only requests of this client program */
                readonly client?: string;
                /** @description Only requests to which the vendor gave this id */
                readonly vendorRequestId?: string;
                /** @description Only requests that the client labelled so (`x-tollgate-tag`) */
                readonly tag?: string;
                /** @description Only requests that failed with this code */
                readonly errorCode?: string;
                /** @description true: only streams; false: only others */
                readonly stream?: "true" | "false";
                /** @description Only requests with this HTTP status */
                readonly status?: string;
                /** @description Only requests with a status of this class */
                readonly statusClass?: "1xx" | "2xx" | "3xx" | "4xx" | "5xx";
                /** @description ok: only requests answered in full; failed: only those that were not; interrupted: only those that failed after their status was sent */
                readonly outcome?: "ok" | "failed" | "interrupted";
                /** @description Only requests that were charged at least this, as a decimal of the currency */
                readonly minCost?: string;
                /** @description Only requests that took at least this long, in ms */
                readonly minLatencyMs?: string;
                /** @description Begin of the period: a time such as 2027-01-31T08:00:00Z, or a span before now such as 1h or 2d */
                readonly since?: string;
                /** @description End of the period, not included, such as 2027-01-31T08:00:00Z */
                readonly until?: string;
                /** @description CSV, or JSON with one object on each line */
                readonly format?: "csv" | "json";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/csv": string;
                    readonly "application/x-ndjson": string;
                };
            };
        };
    };
    readonly showRequest: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Request"] & {
                        readonly currency: string;
                        readonly receipt: components["schemas"]["Receipt"];
                        readonly blame: components["schemas"]["Blame"];
                        readonly attemptList: readonly components["schemas"]["Attempt"][];
                    };
                };
            };
        };
    };
    readonly readBalance: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account */
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Balance"];
                };
            };
        };
    };
    readonly listEntries: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account */
                readonly account?: string;
                /** @description Begin of the period: a time such as 2027-01-31T08:00:00Z, or a span before now such as 1h or 2d */
                readonly since?: string;
                /** @description End of the period, not included, such as 2027-01-31T08:00:00Z */
                readonly until?: string;
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["LedgerEntry"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly shareRequest: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Days after which the link expires; 7 by default */
                    readonly days?: number;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly token: string;
                        /**
                         * Format: date-time
                         * @description Time in UTC, RFC 3339
                         */
                        readonly expiresAt: string;
                    };
                };
            };
        };
    };
    readonly readSharedRequest: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly token: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SharedRequest"];
                };
            };
        };
    };
    readonly previewRouting: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description Model that a client asks for */
                    readonly model: string;
                    /** @description Group of the client’s key */
                    readonly group: string;
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RoutingPreview"];
                };
            };
        };
    };
    readonly listProviders: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly providers: readonly {
                            readonly id: string;
                            readonly name: string;
                        }[];
                        /**
                         * @description Who may sign up: everybody, those with an invitation, or nobody
                         * @enum {string}
                         */
                        readonly signUp: "open" | "invite" | "closed";
                    };
                };
            };
        };
    };
    readonly signIn: {
        readonly parameters: {
            readonly query?: {
                /** @description Path to redirect to after sign-in; `/` unless given */
                readonly "return-to"?: string;
                /** @description Code of the invitation to sign up with */
                readonly invitation?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly provider: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 303: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly finishSignIn: {
        readonly parameters: {
            readonly query?: {
                /** @description Code from the identity provider */
                readonly code?: string;
                /** @description Value from the address that led to the identity provider */
                readonly state?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly provider: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 303: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly signInByLink: {
        readonly parameters: {
            readonly query?: {
                /** @description Token of the link */
                readonly token?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 303: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly linkProvider: {
        readonly parameters: {
            readonly query?: {
                /** @description Path to redirect to after sign-in; `/` unless given */
                readonly "return-to"?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly provider: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly url: string;
                    };
                };
            };
        };
    };
    readonly signOut: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly listStatements: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account */
                readonly account?: string;
                /** @description IANA time zone whose midnight begins a month */
                readonly timeZone?: string;
                /** @description Most items on the page */
                readonly limit?: number;
                /** @description `next` of the previous page; left out: the first page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["StatementMonth"][];
                        /** @description `cursor` of the next page; null: this is the last page */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly readStatement: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account */
                readonly account?: string;
                /** @description IANA time zone whose midnight begins a month */
                readonly timeZone?: string;
                /** @description Format of the reply */
                readonly format?: "json" | "csv" | "html";
                /** @description Language of the page */
                readonly language?: "en" | "zh-CN";
            };
            readonly header?: never;
            readonly path: {
                /** @description Month, such as `2027-01` */
                readonly month: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Statement"];
                    readonly "text/csv": string;
                    readonly "text/html": string;
                };
            };
        };
    };
    readonly readStatistics: {
        readonly parameters: {
            readonly query?: {
                /** @description Figure to compute */
                readonly metric?: "spend" | "requests" | "tokens" | "errors" | "errorRate" | "cacheRate" | "ttftP50" | "ttftP95" | "latencyP50" | "latencyP95" | "throughput";
                /** @description Dimensions to group by, at most two, separated by a comma: model, key, group, operation, statusClass, tag, channel, account */
                readonly by?: string;
                /** @description Length of an interval; `auto`: chosen by the length of the period */
                readonly interval?: "auto" | "quarter" | "hour" | "day" | "week" | "month";
                /** @description true: also the total of the period of the same length before */
                readonly compare?: boolean;
                /** @description Number of groups that have a series of their own */
                readonly limit?: number;
                /** @description Begin of the period: a time, a day in `timeZone`, or a span before now such as `1h` or `7d` */
                readonly since?: string;
                /** @description End of the period, not included, in the same form; left out: now */
                readonly until?: string;
                /** @description IANA time zone whose midnight begins a day */
                readonly timeZone?: string;
                /** @description Only these accounts; only for operators. Separated by commas; a comma within a value is written `\,` */
                readonly account?: string;
                /** @description Only these keys, by id. Separated by commas; a comma within a value is written `\,` */
                readonly key?: string;
                /** @description Only these models. Separated by commas; a comma within a value is written `\,` */
                readonly model?: string;
                /** @description Only these channels; only for operators. An empty text stands for requests that reached none. Separated by commas; a comma within a value is written `\,` */
                readonly channel?: string;
                /** @description Only these groups. Separated by commas; a comma within a value is written `\,` */
                readonly group?: string;
                /** @description Only these operations. Separated by commas; a comma within a value is written `\,` */
                readonly operation?: string;
                /** @description Only these classes of status, such as `2xx`. Separated by commas; a comma within a value is written `\,` */
                readonly statusClass?: string;
                /** @description Only requests labelled so (`x-tollgate-tag`). An empty text stands for those without a label. Separated by commas; a comma within a value is written `\,` */
                readonly tag?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Statistics"];
                };
            };
        };
    };
    readonly readBreakdown: {
        readonly parameters: {
            readonly query?: {
                /** @description Dimensions to group by, at most two, separated by a comma: model, key, group, operation, statusClass, tag, channel, account */
                readonly by?: string;
                /** @description Figure to sort by */
                readonly sort?: "spend" | "requests" | "success" | "failed" | "tokens" | "input" | "cachedInput" | "output" | "reasoning" | "errorRate" | "cacheRate";
                /** @description Descending or ascending */
                readonly order?: "desc" | "asc";
                /** @description Number of groups that have a row of their own */
                readonly limit?: number;
                /** @description Begin of the period: a time, a day in `timeZone`, or a span before now such as `1h` or `7d` */
                readonly since?: string;
                /** @description End of the period, not included, in the same form; left out: now */
                readonly until?: string;
                /** @description IANA time zone whose midnight begins a day */
                readonly timeZone?: string;
                /** @description Only these accounts; only for operators. Separated by commas; a comma within a value is written `\,` */
                readonly account?: string;
                /** @description Only these keys, by id. Separated by commas; a comma within a value is written `\,` */
                readonly key?: string;
                /** @description Only these models. Separated by commas; a comma within a value is written `\,` */
                readonly model?: string;
                /** @description Only these channels; only for operators. An empty text stands for requests that reached none. Separated by commas; a comma within a value is written `\,` */
                readonly channel?: string;
                /** @description Only these groups. Separated by commas; a comma within a value is written `\,` */
                readonly group?: string;
                /** @description Only these operations. Separated by commas; a comma within a value is written `\,` */
                readonly operation?: string;
                /** @description Only these classes of status, such as `2xx`. Separated by commas; a comma within a value is written `\,` */
                readonly statusClass?: string;
                /** @description Only requests labelled so (`x-tollgate-tag`). An empty text stands for those without a label. Separated by commas; a comma within a value is written `\,` */
                readonly tag?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Breakdown"];
                };
            };
        };
    };
    readonly exportStatistics: {
        readonly parameters: {
            readonly query?: {
                /** @description Figure to compute */
                readonly metric?: "spend" | "requests" | "tokens" | "errors" | "errorRate" | "cacheRate" | "ttftP50" | "ttftP95" | "latencyP50" | "latencyP95" | "throughput";
                /** @description Dimensions to group by, at most two, separated by a comma: model, key, group, operation, statusClass, tag, channel, account */
                readonly by?: string;
                /** @description Length of an interval; `auto`: chosen by the length of the period */
                readonly interval?: "auto" | "quarter" | "hour" | "day" | "week" | "month";
                /** @description true: also the total of the period of the same length before */
                readonly compare?: boolean;
                /** @description Number of groups; by default 10 series or 100 rows */
                readonly limit?: number;
                /** @description Begin of the period: a time, a day in `timeZone`, or a span before now such as `1h` or `7d` */
                readonly since?: string;
                /** @description End of the period, not included, in the same form; left out: now */
                readonly until?: string;
                /** @description IANA time zone whose midnight begins a day */
                readonly timeZone?: string;
                /** @description Only these accounts; only for operators. Separated by commas; a comma within a value is written `\,` */
                readonly account?: string;
                /** @description Only these keys, by id. Separated by commas; a comma within a value is written `\,` */
                readonly key?: string;
                /** @description Only these models. Separated by commas; a comma within a value is written `\,` */
                readonly model?: string;
                /** @description Only these channels; only for operators. An empty text stands for requests that reached none. Separated by commas; a comma within a value is written `\,` */
                readonly channel?: string;
                /** @description Only these groups. Separated by commas; a comma within a value is written `\,` */
                readonly group?: string;
                /** @description Only these operations. Separated by commas; a comma within a value is written `\,` */
                readonly operation?: string;
                /** @description Only these classes of status, such as `2xx`. Separated by commas; a comma within a value is written `\,` */
                readonly statusClass?: string;
                /** @description Only requests labelled so (`x-tollgate-tag`). An empty text stands for those without a label. Separated by commas; a comma within a value is written `\,` */
                readonly tag?: string;
                /** @description Figure to sort by */
                readonly sort?: "spend" | "requests" | "success" | "failed" | "tokens" | "input" | "cachedInput" | "output" | "reasoning" | "errorRate" | "cacheRate";
                /** @description Descending or ascending */
                readonly order?: "desc" | "asc";
                /** @description What to export */
                readonly view?: "series" | "breakdown";
                /** @description Format of the file */
                readonly format?: "csv" | "json";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/csv": string;
                    readonly "application/json": unknown;
                };
            };
        };
    };
    readonly listStatisticsChoices: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["StatisticsChoices"];
                };
            };
        };
    };
    readonly readOverview: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
                /** @description IANA time zone whose midnight begins a day */
                readonly timeZone?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Overview"];
                };
            };
        };
    };
    readonly listFeatures: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @description Whether `/api/status` answers */
                        readonly statusPage: boolean;
                    };
                };
            };
        };
    };
    readonly readStatusPage: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["StatusPage"];
                };
            };
        };
    };
    readonly statusFeed: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/rss+xml": string;
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly showBackup: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Backup"];
                };
            };
        };
    };
    readonly runAudit: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/x-ndjson": string;
                };
            };
        };
    };
    readonly whatIf: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of the account, which only operators may choose; left out: the own account, or for operators all accounts */
                readonly account?: string;
                /** @description Only requests of this key, by its id */
                readonly key?: string;
                /** @description Length of the period in days, up to `until` */
                readonly days?: number;
                /** @description Begin of the period, in place of `days`, at most 90 days before its end */
                readonly since?: string;
                /** @description End of the period, not included; left out: now */
                readonly until?: string;
                /** @description Model to compute with; left out: the model of each request */
                readonly model?: string;
                /** @description Group to compute with; left out: the group of each request */
                readonly group?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WhatIf"];
                };
            };
        };
    };
}

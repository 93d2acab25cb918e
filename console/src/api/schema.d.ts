// Generated from /openapi.json by `npm run types`: do not edit.

export interface paths {
    readonly "/api/me/balance": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Read the balance */
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
        /** List the account’s requests */
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
        /** Read what a request cost */
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
        /** The accounts and what they have */
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
        /** What an account has */
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
         * Give an account money or take it, with the reason
         * @description Once for each `reference`. A debit takes all of it or nothing.
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
        /** What I want to be warned of */
        readonly get: operations["readAlerts"];
        /**
         * Say what I want to be warned of; what is left out is off
         * @description Less left than `lowBalanceNano`; more spent in a day of `timeZone` than `daySpendNano`; a key that has spent `keyLimitPercent` of its limit; `errorRatePercent` of the last hour’s requests failed (of 20 at least). Looked at once a minute, and told once until it is over. With a `webhook`, posted there too, signed; with an `email`, mailed.
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
        /** Enter the code that was mailed to the address of my alerts */
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
        /** What I was warned of, newest first */
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
        /** Mark notices as read; without `ids` all */
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
        /** The automatic top-up of an account */
        readonly get: operations["readAutoTopUp"];
        /**
         * Top up whenever less than `thresholdNano` is left; also turns it on again
         * @description Needs an agreement: an order of the account that was paid by `agreeMethod`. At most `monthMost` in a calendar month. A payment that its bank refuses turns it off, and is told of.
         */
        readonly put: operations["setAutoTopUp"];
        readonly post?: never;
        /** Turn automatic top-up off */
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
        /** The channels there are, how each is, and what it did in the last hour and day */
        readonly get: operations["listChannels"];
        readonly put?: never;
        /** Make a channel; it serves in every process within a second */
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
        /** The vendors that a channel may be of */
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
        /** The channels of the store, as the channels of a configuration file */
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
        /** Make and change channels as a list says, all or none; without apply, say what would be */
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
        /** Change many channels alike, all or none: those named, or those with a tag */
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
        /** Show a channel */
        readonly get: operations["showChannel"];
        readonly put?: never;
        readonly post?: never;
        /** Remove a channel of the store; requests under way end as they would */
        readonly delete: operations["deleteChannel"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Change a channel of the store
         * @description What is left out stays, null is the default. A key without `key`, or with `***`, keeps the one of its name.
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
        /** Enable, drain or disable a channel of the store */
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
        /** Every version of a channel of the store, the newest first */
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
        /** Bring an earlier version of a channel back, also of one that was removed */
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
        /** Make one small call to a channel, which its vendor may charge for */
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
        /** What is left of a channel's money, as its vendor says; asked at most once a minute */
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
        /** Make the same call to a channel as it is given here, and store nothing */
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
        /** The models of a channel's vendor, by the vendor's own list */
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
        /** The same for a channel as it is given here */
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
         * Recent requests of my clients, and what is wrong with them, newest first
         * @description Requests that were refused before any vendor was asked, with what is wrong with each, and those that reached a vendor. Kept in memory, the last 30 of an account, and never with a secret or a body. Of the last 15 minutes unless `since` says otherwise.
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
         * The same as it comes, as server-sent events
         * @description `event: arrival` with each, once. From now on.
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
        /** The groups that the file and the store say, as they say them */
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
        /** A group as the file or the store says it */
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
        /** Every version of a group of the store, the newest first */
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
        /** The groups you may see: what they have, and what they multiply prices by */
        readonly get: operations["listGroups"];
        readonly put?: never;
        /** Make a group; it counts in every process within a second */
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
        /** Remove a group of the store that nothing refers to */
        readonly delete: operations["deleteGroup"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Change a group of the store
         * @description What is left out stays, null is the default.
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
        /** Bring an earlier version of a group back, also of one that was removed */
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
        /** The models that the file and the store say, as they say them */
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
        /** A model as the file or the store says it */
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
        /** Every version of a model of the store, the newest first */
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
         * The models of a group, with what they cost it
         * @description Without signing in, of the groups that are public.
         */
        readonly get: operations["listModels"];
        readonly put?: never;
        /** Make a model; it counts in every process within a second */
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
        /** A model, with what it costs a group */
        readonly get: operations["showModel"];
        readonly put?: never;
        readonly post?: never;
        /** Remove a model of the store that nothing refers to */
        readonly delete: operations["deleteModel"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Change a model of the store
         * @description What is left out stays, null is the default.
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
        /** Bring an earlier version of a model back, also of one that was removed */
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
         * What operators did, newest first
         * @description Every change by an admin or by a management key that is bound to no account, and `viewAs`. `text` searches all of what an event says.
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
        /** The same as a file, CSV or JSON lines */
        readonly get: operations["exportEvents"];
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
        /** What uses each group: people, keys, channels, and requests of the last 24 hours */
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
        /** What is kept of my messages, and the most that may be */
        readonly get: operations["readHistoryChoice"];
        /** Choose what is kept of my messages */
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
        /** All my data: a ZIP of NDJSON with usage, keys (no secrets) and messages */
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
         * Messages that are kept, newest first
         * @description `text` searches in the caller’s own bodies that are not sealed; a page of a search may be short, or empty, and not the last.
         */
        readonly get: operations["listHistory"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete my messages of a time, or with `all=true` all of them
         * @description What is still being written goes too. An admin names the account.
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
        /** What a request asked and was answered */
        readonly get: operations["readHistory"];
        readonly put?: never;
        readonly post?: never;
        /** Delete one message */
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
        /** What is kept in place of `blob:ID`; sealed where its message is */
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
         * Any account's message with its body and what vendors were sent
         * @description Only where `history.adminReads` allows it. Each reading is noted.
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
         * A blob of any account's message
         * @description Only where `history.adminReads` allows it. Each reading is noted.
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
        /** List keys, with what they spent and when they were last used */
        readonly get: operations["listKeys"];
        readonly put?: never;
        /** Make a key; its secret is in this reply and nowhere else */
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
        /** Count keys by state, and say what they spent together */
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
        /** Show a key */
        readonly get: operations["showKey"];
        readonly put?: never;
        readonly post?: never;
        /** Stop a key and forget it; its usage stays */
        readonly delete: operations["deleteKey"];
        readonly options?: never;
        readonly head?: never;
        /** Change a key; null takes a limit away */
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
        /** Give a key a new secret; the one before works for a while */
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
        /** Stop a key within a second */
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
        /** Take the disabling of a key back */
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
        /** Say what would miss a key if it were gone */
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
        /** Say whether a key would be taken now and for which models, without calling one */
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
         * Make a management key; its secret is in this reply and nowhere else
         * @description Without an account it is for the whole deployment, where the caller may do that.
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
        /** Show a management key */
        readonly get: operations["showManagementKey"];
        readonly put?: never;
        readonly post?: never;
        /** Stop a management key at once and forget it */
        readonly delete: operations["deleteManagementKey"];
        readonly options?: never;
        readonly head?: never;
        /** Change name, scopes or expiry */
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
        /** Stop a management key at once */
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
        /** Take its disabling back */
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
        /** Who I am */
        readonly get: operations["showMe"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete my account, for ever
         * @description Name, e-mail address, identities, sessions, keys, messages and preferences are forgotten; journal and usage stay under the bare id. `confirm` is the id of the account. Where money is left, 409 unless `forfeit` is true.
         */
        readonly delete: operations["deleteMe"];
        readonly options?: never;
        readonly head?: never;
        /** Change my name */
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
        /** Where I am signed in, newest first */
        readonly get: operations["listMySessions"];
        readonly put?: never;
        readonly post?: never;
        /** Sign out everywhere else, or everywhere */
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
        /** Sign out in one place */
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
        /** The providers that vouch for me */
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
         * Let a provider vouch for me no more
         * @description Asks for a sign-in of the last 15 minutes, and refuses the only way in.
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
        /** What the models of a group can be narrowed down to */
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
        /** How the prices of a model have changed, and will */
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
        /** The latest changes of prices, as JSON Feed 1.1 */
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
        /** The latest changes of prices, as RSS 2.0 */
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
        /** How the deployment does now, what it earns, and what needs somebody */
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
        /** How an account may pay, and what it would be given */
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
         * Orders, newest first
         * @description `stuck`: those that have not ended after two minutes. `number`: the order’s own, or the provider’s of a payment.
         */
        readonly get: operations["listOrders"];
        readonly put?: never;
        /** Order credit; the same `attempt` again is the same order */
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
        /** One order, with what became of it */
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
        /** I have paid: ask the provider now */
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
        /** Cancel an order; one that was paid meanwhile is credited */
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
        /** The order as it changes: server-sent events `order` */
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
         * A provider’s bill of a day against what was booked
         * @description The day is one of China’s, and over. Where `isOrder` holds, `POST /api/orders/{id}/check` asks the provider about it and credits what was paid.
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
        /** What a refund would take from the wallet; nothing is begun */
        readonly get: operations["planRefund"];
        readonly put?: never;
        /**
         * Pay back an order or a part of it; the same `refund` again is the same refund
         * @description Within what the account has beside bonuses; a first bonus is taken back in proportion. `pending`: the provider has not confirmed it, and is asked again.
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
        /** For providers of payment: what they tell of orders, signed by them */
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
        /** For browsers that WeChat sends back: goes on to the order, which can be paid then */
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
         * List the accounts as people
         * @description `search` finds ids, names, e-mail addresses, what providers call somebody, and keys by id, name or last characters. `sort`: newest, balance or lastSeen, largest first; spend: those who spent in the last 30 days, the first 1000.
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
        /** Show an account as a person */
        readonly get: operations["showPerson"];
        readonly put?: never;
        readonly post?: never;
        /** Forget who an account is, for ever; journal and usage stay */
        readonly delete: operations["deletePerson"];
        readonly options?: never;
        readonly head?: never;
        /** Change name, role or groups */
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
        /** Stop keys within a second, end sessions */
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
        /** Take a suspension back */
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
        /** List the invitations, newest first, never their codes */
        readonly get: operations["listInvitations"];
        readonly put?: never;
        /** Make an invitation for one account */
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
        /** Take an invitation back that nobody used */
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
         * Get a key of my own for an hour, one for each group
         * @description What it is used for stays under one id. Asked again, it has a new secret; the one before works until its own hour is over.
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
        /** How I like the console */
        readonly get: operations["readPreferences"];
        /**
         * Say how I like the console; what is left out is unset
         * @description Time zones are IANA names. `columns` holds what each table likes, 16 KiB in all.
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
        /** Cards of prices, with who set them and from where */
        readonly get: operations["listPrices"];
        readonly put?: never;
        /** Set a model's prices, from now or from a moment ahead */
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
        /** Models that are served or asked for and have no price: their requests are refused */
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
         * Where prices in force are not those that are shipped
         * @description Each is taken by itself: `POST /api/prices/withdraw` where it was set or imported. A published document is compared by `POST /api/prices/import`, which takes one `model` of it too.
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
        /** What proposed prices would have brought of the last 7 days' requests */
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
        /** Take back a card that has not begun */
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
        /** Go back to the shipped prices of a model */
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
        /** Bring an earlier version of a model's prices back */
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
        /** Say what a document of prices would change; change it where `apply` is true */
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
         * A period recomputed three ways, to the nano-unit
         * @description What requests say, what the journal has and what the totals say, by day and account; and every request priced again. A long period is done in pieces: ask again with `cursor` until `next` is null. A day may be in two answers, whose sums are to be added.
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
         * The receipt of an order that was paid
         * @description As JSON, or a page that browsers print, also as PDF (`format=html`, in `language`).
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
        /** Of each provider of payment: what it told of late, and orders that wait */
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
         * Ask the address that a provider notifies, and say what is in the way
         * @description The gateway posts there itself what only a process with the same `ENCRYPTION_KEY` can answer. No redirect is followed, and after 5 s it is too slow, since providers do likewise.
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
        /** Batches of codes, newest first */
        readonly get: operations["listRedemptionBatches"];
        readonly put?: never;
        /** Make codes that are worth credit; they are shown this once */
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
        /** Nobody redeems what is left of a batch */
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
        /** Redeem a code: its credit is in the account at once */
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
         * Any id or text: what there is of it
         * @description Requests by their id (or, among the latest 10,000, by the vendor’s, the client’s or the trace’s), keys by id, name, the beginning of the secret or its last four characters, models by a part of the name, orders by their number or the provider’s of what was paid; for operators accounts by id, name or e-mail address, and channels. What has the very id comes first; at most 20.
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
    readonly "/api/settings": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** The settings that may be changed while servers run */
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
        /** One of them */
        readonly get: operations["showSetting"];
        /** Change a setting; it counts in every server within a second */
        readonly put: operations["setSetting"];
        readonly post?: never;
        /** Take a change back: the default counts again */
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
        /** What everybody who is signed in is told at the moment */
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
        /** The webhooks of the configuration, and what each was told last */
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
        /** Post a signed test to a webhook, and say whether it took it */
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
         * Requests that have ended, newest first
         * @description Of the last 24 hours unless `since` or `until` says otherwise. Where few requests fit, a page may hold fewer than `limit`, even none, while `next` says where to go on.
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
         * Requests as they end, as server-sent events
         * @description Each that fits once, in the order of settlement: `event: request` with its row. `Last-Event-ID` goes on behind that event; `event: missed` says that some in between are forgotten. With `most`, of more that end within half a second only so many of the newest are read, and `missed` says so.
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
         * Requests that still run, oldest first, with what they cost until now
         * @description As each process said within the last second. Realtime sessions are not among them.
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
         * @description Its vendor is let go, its client gets the error `request_stopped`, and what was delivered is charged.
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
        /** The same as a file, CSV or JSON lines */
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
        /** One request with its receipt, its attempts, and whose fault a failure was */
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
        /** What an account has, and what running requests hold of it */
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
        /** Every entry of a wallet, newest first, with the balance after it */
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
         * A link to how a request went, for 7 days or as many as are said
         * @description Whoever has the token reads the request without messages, cost, account, key, group and address. It cannot be taken back.
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
        /** What a link to a request shows */
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
         * Say which channels would serve a request now, and why the others would not
         * @description As the process that answers sees its channels; nothing is sent. Among equals one is drawn by weight for each request.
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
        /** Who vouches for people here, and who may join */
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
        /** Go to a provider to sign in */
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
        /** Come back from a provider */
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
        /** Sign in by a one-time link */
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
         * Add an identity at another provider to the account that is signed in
         * @description Answers with where to go. Asks for a sign-in of the last 15 minutes.
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
        /** The months there are statements of, newest first */
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
         * A month of an account: balances, credits, and charges by key and model
         * @description As JSON, CSV, or a page that browsers print, also as PDF (`format=html`, in `language`). Months begin at midnight in `timeZone`.
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
        /** A figure over time, by up to two dimensions */
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
        /** What usage is made of, with a totals row */
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
        /** Statistics as a file: what the series or the breakdown shows, as CSV or JSON */
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
        /** What statistics can be narrowed down to */
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
        /** Today, 7 and 30 days with the periods before them, and how long the balance lasts */
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
        /** What of this deployment is turned on */
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
         * How the models of public groups have done in 90 days, and incidents
         * @description Only where the setting `statusPage` is true; else 404.
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
        /** Incidents, as RSS 2.0 */
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
        /** How this deployment is backed up */
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
         * Derive every balance and total again, and say what differs
         * @description Answers with lines of JSON: `{"state":"running","seconds":N}` every few seconds, at last `{"state":"done","audit":{...}}` or `{"state":"failed","message":"..."}`. It is stopped where the caller leaves. One runs at a time.
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
        /** What past requests would cost now, by another model or in another group */
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
        /** @description How the interfaces in OpenAI’s format refuse. */
        readonly Error: {
            readonly error: {
                readonly message: string;
                /** @enum {string} */
                readonly type: "invalid_request_error" | "insufficient_quota" | "rate_limit_exceeded" | "server_error" | "service_unavailable";
                /** @description The field at fault, where there is one. */
                readonly param: string | null;
                /** @description What to go by: one of the codes of the reply’s status. */
                readonly code: string;
            };
        };
        /** @description How the interface in Anthropic’s format refuses, and any other to who sends `anthropic-version`. */
        readonly AnthropicError: {
            /** @constant */
            readonly type: "error";
            readonly error: {
                readonly type: string;
                readonly message: string;
                /** @description The finer code, where there is one. */
                readonly details?: {
                    readonly error_code: string;
                };
            };
            readonly request_id: string;
        };
        /** @description How the interface in Google’s format refuses. */
        readonly GoogleError: {
            readonly error: {
                /** @description The status of the reply. */
                readonly code: number;
                readonly message: string;
                readonly status: string;
                /** @description `ErrorInfo` with the code as `reason`; `BadRequest` with the field at fault; `RetryInfo` with the wait. */
                readonly details: readonly {
                    readonly "@type": string;
                }[];
            };
        };
        /** @description In the format of the client: Anthropic’s where it sends `anthropic-version`, Google’s where it asks for models with `x-goog-api-key`, else OpenAI’s. */
        readonly AnyError: components["schemas"]["Error"] | components["schemas"]["AnthropicError"] | components["schemas"]["GoogleError"];
        readonly ChatText: {
            /** @constant */
            readonly type: "text";
            readonly text: string;
        };
        /** @description Only to models with vision. */
        readonly ChatImage: {
            /** @constant */
            readonly type: "image_url";
            readonly image_url: {
                /** @description An `http:`, `https:` or `data:` address. */
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
            /** @description `function`, or what a vendor has beside. */
            readonly type: string;
            readonly function?: {
                readonly name?: string;
                readonly description?: string;
                /** @description A JSON Schema. */
                readonly parameters?: Record<string, never>;
                readonly strict?: boolean | null;
            };
        };
        /** @description Fields not named here go to the vendor as they came. */
        readonly ChatRequest: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /** @description The chat so far. */
            readonly messages: readonly components["schemas"]["ChatMessage"][];
            /** @description Answer with events as they come. */
            readonly stream?: boolean | null;
            /** @description Only with `stream`. */
            readonly stream_options?: {
                /** @description A last chunk says what was used. */
                readonly include_usage?: boolean | null;
            } | null;
            /** @description How much chance there is in the words. */
            readonly temperature?: number | null;
            /** @description The share of likely words that are chosen from. */
            readonly top_p?: number | null;
            /** @description Replies that are made. */
            readonly n?: number | null;
            readonly presence_penalty?: number | null;
            readonly frequency_penalty?: number | null;
            /** @description Tokens of the reply at most; 0 counts as no limit. */
            readonly max_completion_tokens?: number | null;
            /** @description The same by its older name; alike where both are given. */
            readonly max_tokens?: number | null;
            readonly logprobs?: boolean | null;
            readonly top_logprobs?: number | null;
            /** @description The reply ends where it would say this. */
            readonly stop?: string | readonly string[] | null;
            readonly seed?: number | null;
            readonly logit_bias?: Record<string, never> | null;
            readonly tools?: readonly components["schemas"]["ChatTool"][] | null;
            /** @description `auto`, `none`, `required`, or the tool. */
            readonly tool_choice?: string | Record<string, never> | null;
            readonly parallel_tool_calls?: boolean | null;
            /** @description `text`, `json_object` or `json_schema`. */
            readonly response_format?: {
                readonly type: string;
            } | null;
            /** @description `none`, `low`, `medium`, `high`, or what the model knows. */
            readonly reasoning_effort?: string | null;
            /** @description A name of your own for whoever this is for; the vendor is told. */
            readonly user?: string | null;
            readonly metadata?: Record<string, never> | null;
            /** @description A tier with a price of its own is left out, and named in `x-tollgate-dropped`. */
            readonly service_tier?: unknown;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
            readonly max_cost?: string | number | null;
        };
        readonly ChatUsage: {
            readonly prompt_tokens: number;
            readonly completion_tokens: number;
            readonly total_tokens: number;
            readonly prompt_tokens_details?: Record<string, never> | null;
            readonly completion_tokens_details?: Record<string, never> | null;
            /** @description What the request costs, a decimal of the currency; where it was asked for. */
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
                    /** @description What the model thought, where it is shown. */
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
        /** @description The data of one event. A stream ends with `data: [DONE]`; one that breaks off, with an `Error` and without it. */
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
        /** @description Fields not named here go to the vendor as they came. */
        readonly CompletionRequest: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /** @description A text, texts, token ids or lists of them. */
            readonly prompt: string | readonly string[] | components["schemas"]["TokenIds"] | readonly components["schemas"]["TokenIds"][];
            /** @description Answer with events as they come. */
            readonly stream?: boolean | null;
            /** @description Only with `stream`. */
            readonly stream_options?: {
                /** @description A last chunk says what was used. */
                readonly include_usage?: boolean | null;
            } | null;
            readonly suffix?: string | null;
            /** @description Tokens of the reply at most; 0 counts as no limit. */
            readonly max_tokens?: number | null;
            /** @description How much chance there is in the words. */
            readonly temperature?: number | null;
            /** @description The share of likely words that are chosen from. */
            readonly top_p?: number | null;
            readonly n?: number | null;
            /** @description So many are made, and the best `n` given; at least `n`. Not with a stream. */
            readonly best_of?: number | null;
            readonly logprobs?: number | null;
            readonly echo?: boolean | null;
            /** @description The reply ends where it would say this. */
            readonly stop?: string | readonly string[] | null;
            readonly presence_penalty?: number | null;
            readonly frequency_penalty?: number | null;
            readonly logit_bias?: Record<string, never> | null;
            readonly seed?: number | null;
            /** @description A name of your own for whoever this is for; the vendor is told. */
            readonly user?: string | null;
            /** @description A tier with a price of its own is left out, and named in `x-tollgate-dropped`. */
            readonly service_tier?: unknown;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
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
        /** @description The data of one event. A stream ends with `data: [DONE]`. */
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
        /** @description Fields not named here go to vendors of this format as they came. */
        readonly ResponseRequest: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /** @description A text, or items. */
            readonly input?: string | readonly components["schemas"]["ResponseItem"][] | null;
            /** @description Answer with events as they come. */
            readonly stream?: boolean | null;
            /** @description Only with `stream`. */
            readonly stream_options?: Record<string, never> | null;
            /** @description Answer at once; ask for the response by its id. */
            readonly background?: boolean | null;
            /** @description `false`: not kept. */
            readonly store?: boolean | null;
            readonly instructions?: string | null;
            /** @description What was said there goes before the new input. */
            readonly previous_response_id?: string | null;
            /** @description Tokens of the reply at most; 0 counts as no limit. */
            readonly max_output_tokens?: number | null;
            readonly max_tool_calls?: number | null;
            /** @description How much chance there is in the words. */
            readonly temperature?: number | null;
            /** @description The share of likely words that are chosen from. */
            readonly top_p?: number | null;
            readonly top_logprobs?: number | null;
            readonly tools?: readonly {
                readonly type: string;
            }[] | null;
            readonly tool_choice?: string | Record<string, never> | null;
            readonly parallel_tool_calls?: boolean | null;
            /** @description How much is thought: `effort`; whether it is told: `summary`. */
            readonly reasoning?: Record<string, never> | null;
            /** @description How the text is formed: `format`. */
            readonly text?: Record<string, never> | null;
            readonly metadata?: Record<string, never> | null;
            /** @description A name of your own for whoever this is for; the vendor is told. */
            readonly user?: string | null;
            /** @description A tier with a price of its own is left out, and named in `x-tollgate-dropped`. */
            readonly service_tier?: unknown;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
            readonly max_cost?: string | number | null;
        };
        readonly ResponseCountRequest: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model?: string | null;
            /** @description A text, or items. */
            readonly input?: string | readonly components["schemas"]["ResponseItem"][] | null;
            readonly instructions?: string | null;
            /** @description What was said there goes before the new input. */
            readonly previous_response_id?: string | null;
            readonly tools?: readonly {
                readonly type: string;
            }[] | null;
            /** @description How the text is formed: `format`. */
            readonly text?: Record<string, never> | null;
            /** @description How much is thought: `effort`; whether it is told: `summary`. */
            readonly reasoning?: Record<string, never> | null;
        };
        readonly ResponseCompactRequest: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /** @description A text, or items. */
            readonly input?: string | readonly components["schemas"]["ResponseItem"][] | null;
            readonly instructions?: string | null;
            readonly previous_response_id?: string | null;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
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
        /** @description The data of one event, whose name is its `type`. The last is `response.completed`, `response.incomplete` or `response.failed`. */
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
        /** @description Fields not named here go to vendors of this format as they came. */
        readonly MessageRequest: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /** @description Tokens of the reply at most. */
            readonly max_tokens: number;
            /** @description The chat so far. */
            readonly messages: readonly components["schemas"]["MessageTurn"][];
            /** @description A text or blocks of text. */
            readonly system?: string | readonly unknown[] | null;
            readonly tools?: readonly Record<string, never>[] | null;
            readonly tool_choice?: {
                readonly type: string;
            } | null;
            readonly thinking?: {
                readonly type: string;
            } | null;
            readonly output_config?: Record<string, never> | null;
            /** @description Answer with events as they come. */
            readonly stream?: boolean | null;
            readonly stop_sequences?: readonly string[] | null;
            readonly temperature?: number | null;
            readonly top_p?: number | null;
            readonly top_k?: number | null;
            readonly metadata?: Record<string, never> | null;
            readonly service_tier?: string | null;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
            readonly max_cost?: string | number | null;
        };
        readonly MessageCountRequest: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /** @description The chat so far. */
            readonly messages: readonly components["schemas"]["MessageTurn"][];
            /** @description A text or blocks of text. */
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
        /** @description The data of one event, whose name is its `type`. `message_stop` is the last; a stream that breaks off ends with `error`. */
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
            /** @description `user`, `model` or `function`. */
            readonly role?: string | null;
            readonly parts?: readonly {
                readonly text?: string | null;
                readonly inlineData?: Record<string, never>;
                readonly fileData?: Record<string, never>;
                readonly functionCall?: Record<string, never>;
                readonly functionResponse?: Record<string, never>;
            }[] | null;
        };
        /** @description Names may be in `snake_case` too. Fields not named here go to vendors of this format as they came. */
        readonly GeminiRequest: {
            /** @description The chat so far. */
            readonly contents: readonly components["schemas"]["GeminiContent"][];
            /** @description A content, whose texts the model is to keep to. */
            readonly systemInstruction?: unknown;
            readonly generationConfig?: {
                readonly maxOutputTokens?: number | string | null;
                readonly candidateCount?: number | string | null;
                readonly temperature?: number | null;
                readonly topP?: number | null;
                readonly topK?: number | null;
                readonly stopSequences?: readonly string[] | null;
                readonly seed?: number | null;
                readonly responseMimeType?: string | null;
                readonly responseSchema?: Record<string, never> | null;
                readonly responseJsonSchema?: unknown;
                readonly thinkingConfig?: Record<string, never> | null;
            } | null;
            readonly tools?: readonly Record<string, never>[] | null;
            /** @description Which functions may or must be called. */
            readonly toolConfig?: unknown;
            /** @description For Google’s own models. */
            readonly safetySettings?: unknown;
            /** @description A tier with a price of its own is left out, and named in `x-tollgate-dropped`. */
            readonly serviceTier?: unknown;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
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
                }[];
            };
            /** @description The address says it. */
            readonly model?: unknown;
            /** @description `RETRIEVAL_QUERY` or `RETRIEVAL_DOCUMENT`; another is left out. */
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
        /** @description Fields not named here go to the vendor as they came. */
        readonly EmbeddingRequest: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /** @description A text, texts, token ids or lists of them; none of them empty. */
            readonly input: string | readonly string[] | readonly number[] | readonly (readonly number[])[];
            /** @enum {string|null} */
            readonly encoding_format?: "float" | "base64" | null;
            readonly dimensions?: number | null;
            /** @description A name of your own for whoever this is for; the vendor is told. */
            readonly user?: string | null;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
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
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            readonly query: string;
            readonly documents: readonly (string | Record<string, never>)[];
            readonly top_n?: number | null;
            readonly return_documents?: boolean | null;
            readonly max_tokens_per_doc?: number | null;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
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
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            readonly text_1: string | readonly string[];
            readonly text_2: string | readonly (string | Record<string, never>)[];
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
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
        /** @description Fields not named here go to the vendor as they came. */
        readonly ModerationRequest: {
            readonly input: string | readonly string[] | readonly (components["schemas"]["ChatText"] | {
                /** @constant */
                readonly type: "image_url";
                readonly image_url: {
                    readonly url: string;
                };
            })[];
            /** @description `omni-moderation-latest` unless said. */
            readonly model?: string | null;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
            readonly max_cost?: string | number | null;
        };
        /** @description Fields not named here go to the vendor as they came. */
        readonly ImageRequest: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /** @description What is to be seen. */
            readonly prompt: string;
            /** @description Images that are made. */
            readonly n?: number | null;
            /** @description `1024x1024` and the like, or `auto`: what the model makes. */
            readonly size?: string | null;
            /** @enum {string|null} */
            readonly response_format?: "url" | "b64_json" | null;
            /** @description A name of your own for whoever this is for; the vendor is told. */
            readonly user?: string | null;
            readonly quality?: string | null;
            /** @enum {string|null} */
            readonly background?: "transparent" | "opaque" | "auto" | null;
            /** @enum {string|null} */
            readonly output_format?: "png" | "jpeg" | "webp" | "gif" | "svg" | null;
            readonly output_compression?: number | null;
            /** @enum {string|null} */
            readonly moderation?: "low" | "auto" | null;
            /** @description Answer with events as they come. */
            readonly stream?: boolean | null;
            /** @description Images on the way to each that a stream shows. */
            readonly partial_images?: number | null;
            readonly safety_identifier?: string | null;
            /** @enum {string|null} */
            readonly style?: "vivid" | "natural" | null;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
            readonly max_cost?: string | number | null;
        };
        readonly ImageEditRequest: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /** @description What is to be seen. */
            readonly prompt: string;
            readonly images: readonly components["schemas"]["ImageReference"][];
            readonly mask?: components["schemas"]["ImageReference"] | null;
            /** @description Images that are made. */
            readonly n?: number | null;
            /** @description `1024x1024` and the like, or `auto`: what the model makes. */
            readonly size?: string | null;
            /** @enum {string|null} */
            readonly response_format?: "url" | "b64_json" | null;
            /** @description A name of your own for whoever this is for; the vendor is told. */
            readonly user?: string | null;
            readonly quality?: string | null;
            /** @enum {string|null} */
            readonly background?: "transparent" | "opaque" | "auto" | null;
            /** @enum {string|null} */
            readonly output_format?: "png" | "jpeg" | "webp" | "gif" | "svg" | null;
            readonly output_compression?: number | null;
            /** @enum {string|null} */
            readonly moderation?: "low" | "auto" | null;
            /** @description Answer with events as they come. */
            readonly stream?: boolean | null;
            /** @description Images on the way to each that a stream shows. */
            readonly partial_images?: number | null;
            readonly safety_identifier?: string | null;
            /** @enum {string|null} */
            readonly input_fidelity?: "high" | "low" | null;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
            readonly max_cost?: string | number | null;
        };
        readonly ImageReference: {
            readonly image_url: string;
        };
        readonly ImageEditForm: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /** @description What is to be seen. */
            readonly prompt: string;
            /** @description PNG, JPEG, WebP or GIF: up to 16, as `image`, `image[]` or `image[0]`. */
            readonly image: string | readonly string[];
            /** Format: binary */
            readonly mask?: string;
            /** @description Images that are made. */
            readonly n?: number;
            /** @description `1024x1024` and the like, or `auto`: what the model makes. */
            readonly size?: string;
            /** @enum {string} */
            readonly response_format?: "url" | "b64_json";
            /** @description A name of your own for whoever this is for; the vendor is told. */
            readonly user?: string;
            readonly quality?: string;
            /** @enum {string} */
            readonly background?: "transparent" | "opaque" | "auto";
            /** @enum {string} */
            readonly output_format?: "png" | "jpeg" | "webp" | "gif" | "svg";
            readonly output_compression?: number;
            /** @enum {string} */
            readonly moderation?: "low" | "auto";
            /** @description Answer with events as they come. */
            readonly stream?: boolean;
            /** @description Images on the way to each that a stream shows. */
            readonly partial_images?: number;
            readonly safety_identifier?: string;
            /** @enum {string} */
            readonly input_fidelity?: "high" | "low";
        };
        readonly ImageVariationForm: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /**
             * Format: binary
             * @description PNG, JPEG, WebP or GIF.
             */
            readonly image: string;
            /** @description Images that are made. */
            readonly n?: number;
            /** @description `1024x1024` and the like, or `auto`: what the model makes. */
            readonly size?: string;
            /** @enum {string} */
            readonly response_format?: "url" | "b64_json";
            /** @description A name of your own for whoever this is for; the vendor is told. */
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
        /** @description The data of one event: `image_generation.partial_image`, `image_generation.completed`, the same with `image_edit`, or `error`. */
        readonly ImageEvent: {
            readonly type: string;
            readonly b64_json?: string;
            readonly partial_image_index?: number;
            readonly usage?: Record<string, never>;
            readonly error?: Record<string, never>;
        };
        /** @description Fields not named here go to the vendor as they came. */
        readonly SpeechRequest: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /** @description What is to be said: at most 4,096 characters with OpenAI’s models, 100,000 with others. */
            readonly input: string;
            /** @description The name of a voice, or a voice of one’s own by its id. */
            readonly voice: string | {
                readonly id: string;
            };
            /** @description How it is to be said. */
            readonly instructions?: string | null;
            /** @enum {string|null} */
            readonly response_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm" | null;
            readonly speed?: number | null;
            /** @enum {string|null} */
            readonly stream_format?: "audio" | "sse" | null;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
            readonly max_cost?: string | number | null;
        };
        /** @description The data of one event. */
        readonly SpeechEvent: {
            /** @enum {string} */
            readonly type: "speech.audio.delta" | "speech.audio.done" | "error";
            /** @description Base64. */
            readonly audio?: string;
            readonly usage?: Record<string, never>;
            readonly error?: Record<string, never>;
        };
        readonly TranscriptionForm: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /**
             * Format: binary
             * @description flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm.
             */
            readonly file: string;
            readonly prompt?: string;
            readonly temperature?: number;
            /** @description Answer with events as they come. */
            readonly stream?: boolean;
            readonly language?: string;
            readonly languages?: readonly string[];
            readonly keywords?: readonly string[];
            /** @enum {string} */
            readonly response_format?: "json" | "text" | "srt" | "verbose_json" | "vtt" | "diarized_json";
            /** @description Only with `json`. */
            readonly include?: readonly "logprobs"[];
            /** @description Only with `verbose_json`. */
            readonly timestamp_granularities?: readonly ("word" | "segment")[];
            readonly chunking_strategy?: "auto" | {
                /** @constant */
                readonly type: "server_vad";
            };
            readonly known_speaker_names?: readonly string[];
            /** @description One for each name. */
            readonly known_speaker_references?: readonly string[];
        };
        readonly TranslationForm: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            /**
             * Format: binary
             * @description flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm.
             */
            readonly file: string;
            readonly prompt?: string;
            readonly temperature?: number;
            /** @description Answer with events as they come. */
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
        /** @description The data of one event: `transcript.text.delta`, `transcript.text.segment`, `transcript.text.done` or `error`. */
        readonly TranscriptEvent: {
            readonly type: string;
            readonly delta?: string;
            readonly text?: string;
            readonly usage?: Record<string, never>;
            readonly error?: Record<string, never>;
        };
        /** @description Fields not named here go to the vendor as they came. */
        readonly VideoRequest: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            readonly prompt: string;
            /** @description Whole seconds that the model makes, such as `"4"`. */
            readonly seconds?: string | null;
            /** @description Such as `1280x720`: what the model makes. */
            readonly size?: string | null;
            /** @description An image that it begins with. */
            readonly input_reference?: {
                readonly image_url: string;
            } | null;
            /** @description The request is charged no more than this, in units of the currency. Goes no further. */
            readonly max_cost?: string | number | null;
        };
        readonly VideoForm: {
            /** @description The model, as `GET /v1/models` names it. */
            readonly model: string;
            readonly prompt: string;
            /** @description Whole seconds that the model makes, such as `"4"`. */
            readonly seconds?: string;
            /** @description Such as `1280x720`: what the model makes. */
            readonly size?: string;
            /**
             * Format: binary
             * @description An image that it begins with.
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
            /** @description For Codex. */
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
            /** @description By kind. */
            readonly tokens: {
                readonly [key: string]: number;
            };
            readonly usageSource: string;
            /** @description A decimal of the currency. */
            readonly cost: string;
            /** @description The charge with its numbers. */
            readonly formula: string | null;
            /** @description What the account paid. */
            readonly chargeNano: string;
            /** @description What it could not pay and was not asked for. */
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
            readonly account: string;
            readonly currency: string;
            readonly availableNano: string;
            readonly heldNano: string;
            readonly postedNano: string;
            /** Format: date-time */
            readonly createdAt: string;
        };
        readonly Problem: {
            readonly type: string;
            readonly title: string;
            readonly status: number;
            readonly detail: string;
            /** @enum {string} */
            readonly code: "invalid" | "unauthenticated" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "stale" | "too_large" | "unsupported_media_type" | "key_reused" | "limited" | "internal" | "unavailable";
            readonly field?: string;
            /**
             * @description What exactly forbids it, of some refusals
             * @enum {string}
             */
            readonly reason?: "balance_left" | "built_in" | "changed_meanwhile" | "code_expired" | "code_revoked" | "code_unknown" | "code_used" | "day_not_over" | "disputed" | "in_configuration_file" | "in_use" | "invitation_used" | "key_disabled" | "last_admin" | "last_identity" | "mail_code_wrong" | "name_taken" | "no_mail_server" | "not_paid" | "order_closed" | "provider_unreachable" | "range_too_long" | "refund_held" | "refund_too_large" | "sign_in_again";
            readonly requestId: string;
        };
        readonly AccountBalance: {
            readonly account: string;
            readonly currency: string;
            readonly availableNano: string;
            readonly heldNano: string;
            readonly postedNano: string;
        };
        readonly Adjustment: {
            readonly account: string;
            readonly currency: string;
            readonly availableNano: string;
            readonly heldNano: string;
            readonly postedNano: string;
            readonly id: string;
            /** @description false: the same was posted before */
            readonly posted: boolean;
            /** @description Below 0 for a debit */
            readonly amountNano: string;
        };
        readonly Alerts: {
            readonly lowBalanceNano: string | null;
            readonly daySpendNano: string | null;
            readonly timeZone: string;
            readonly keyLimitPercent: number | null;
            readonly errorRatePercent: number | null;
            readonly webhook: string | null;
            /** @description What posts are signed with: shown once, when it is made */
            readonly webhookSecret: string | null;
            readonly email: string | null;
            /** @description Until then a code is awaited, and nothing else is mailed to it */
            readonly emailVerified: boolean;
            /** @description Of whoever is signed in, where it is known to be theirs: needs no code */
            readonly accountEmail: string | null;
            /** @description false: the deployment has no mail server */
            readonly mailOffered: boolean;
            readonly currency: string;
            /** @description 0: never set */
            readonly revision: number;
        };
        readonly AlertNotice: {
            readonly id: string;
            /** Format: date-time */
            readonly at: string;
            /** Format: date-time */
            readonly readAt: string | null;
            /** @enum {string} */
            readonly rule: "low_balance" | "day_spend" | "key_limit" | "error_rate" | "order_late" | "order_refunded" | "top_up_stopped";
            /** @description For people, in English */
            readonly text: string;
            readonly currency: string;
            /** @description What was asked for */
            readonly limitNano: string | null;
            /** @description What was the case */
            readonly valueNano: string | null;
            readonly limitPercent: number | null;
            readonly valuePercent: number | null;
            readonly keyId: string | null;
            readonly keyName: string | null;
            /** @description The share is of so many */
            readonly requests: number | null;
            /** @description Of what is told of an order */
            readonly orderId: string | null;
            /** @description To the webhook; null: there was none */
            readonly delivery: {
                /** @enum {string} */
                readonly state: "waiting" | "delivered" | "failed";
                readonly attempts: number;
                readonly failure: string | null;
            } | null;
            /** @description By mail; null: there was no address */
            readonly mail: {
                /** @enum {string} */
                readonly state: "waiting" | "delivered" | "failed";
                readonly attempts: number;
                readonly failure: string | null;
            } | null;
        };
        readonly AutoTopUp: {
            readonly account: string;
            /** @description null: none of this deployment can */
            readonly provider: string | null;
            /** @description An order that is paid by it agrees to payments without you */
            readonly agreeMethod: string | null;
            readonly isAgreed: boolean;
            readonly currency: string;
            /** @description Of the amounts */
            readonly providerCurrency: string | null;
            /**
             * @description stopped: a payment was refused; turn it on again
             * @enum {string}
             */
            readonly state: "off" | "on" | "stopped";
            readonly problem: string | null;
            readonly thresholdNano: string | null;
            readonly amount: string | null;
            /** @description In a calendar month, in UTC */
            readonly monthMost: string | null;
            readonly monthSpent: string;
            /** @description 0: never set */
            readonly revision: number;
        };
        readonly Channel: {
            readonly id: string;
            readonly vendor: string;
            readonly baseUrl: string | null;
            readonly dialect: string | null;
            /** @description Public name to the vendor's; null: those that are shipped of the vendor */
            readonly models: {
                readonly [key: string]: string;
            } | null;
            /** @description null: every group */
            readonly groups: readonly string[] | null;
            readonly priority: number;
            readonly weight: number;
            /** @enum {string} */
            readonly origin: "file" | "environment" | "built-in" | "stored";
            /** @description The configuration file's path; null: another origin */
            readonly declaredIn: string | null;
            /**
             * @description As the process that answers sees it; open: it is not asked at the moment
             * @enum {string}
             */
            readonly state: "ok" | "degraded" | "open" | "draining" | "disabled";
            /** @description As the configuration file would have it; *** stands for a secret */
            readonly document: {
                readonly [key: string]: unknown;
            };
            readonly keys: readonly {
                readonly name: string;
                /** @description Its last four characters */
                readonly hint: string;
                /** @enum {string} */
                readonly state: "in use" | "cooling" | "refused" | "disabled";
                /** Format: date-time */
                readonly since: string | null;
            }[];
            readonly tags: readonly string[];
            /**
             * @description Why it, or a model of it, is not asked at the moment; failing: it is, but failed lately
             * @enum {string|null}
             */
            readonly reason: "breaker" | "rate_limited" | "quota" | "credentials" | "busy" | "failing" | null;
            /** Format: date-time */
            readonly since: string | null;
            /** @description Requests under way, in the process that answers */
            readonly inFlight: number;
            readonly requestsPerMinute: components["schemas"]["ChannelLimit"];
            readonly tokensPerMinute: components["schemas"]["ChannelLimit"];
            /** @description The store has one of this name too, and the file stands above it */
            readonly overridden: boolean;
            /** @description Why it does not count, though the store has it */
            readonly problem: string | null;
            /** @description Of what the store has; 0: nothing */
            readonly revision: number;
            /** Format: date-time */
            readonly changedAt: string | null;
            readonly actor: string | null;
            /** @description The newest of the last seven days */
            readonly lastTest: {
                /** Format: date-time */
                readonly at: string;
                readonly ok: boolean;
                readonly model: string | null;
                readonly durationMs: number;
            } | null;
            /** @description Its vendor tells what is left of its money */
            readonly offersBalance: boolean;
            readonly balance: components["schemas"]["ChannelBalance"];
            readonly currency: string;
            readonly hour: {
                readonly requests: number;
                readonly successPercent: number | null;
                readonly p95Ms: number | null;
                readonly chargeNano: string;
                readonly vendorCostNano: string;
            };
            readonly day: {
                readonly requests: number;
                readonly successPercent: number | null;
                readonly p95Ms: number | null;
                readonly chargeNano: string;
                readonly vendorCostNano: string;
            };
            /** @description Quarters of an hour that are in `hour`, the oldest first */
            readonly quarters: readonly {
                /** Format: date-time */
                readonly since: string;
                readonly requests: number;
                readonly successPercent: number | null;
            }[];
        };
        /** @description Of a minute; of all processes where Valkey shares limits, else of the one that answers. null: nothing limits it */
        readonly ChannelLimit: {
            readonly used: number;
            readonly most: number;
        } | null;
        /** @description What it told last, within seven days */
        readonly ChannelBalance: {
            /** Format: date-time */
            readonly at: string;
            readonly amounts: readonly {
                /** @description A decimal in the vendor's currency */
                readonly amount: string;
                /** @description null: the vendor says none */
                readonly currency: string | null;
            }[];
        } | null;
        readonly ChannelInput: {
            /** @description Unique name of the channel. */
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
            /** @description Further settings that the vendor needs, as text, such as apiVersion for azure-openai. */
            readonly options?: {
                readonly [key: string]: string;
            } | null;
        };
        readonly Vendor: {
            readonly id: string;
            /** @description null: the channel has to say it */
            readonly baseUrl: string | null;
            readonly needsKey: boolean;
            readonly dialects: readonly string[];
        };
        readonly ChannelImport: {
            readonly applied: boolean;
            readonly channels: readonly {
                readonly id: string;
                /** @enum {string} */
                readonly action: "create" | "update" | "refuse";
                readonly problem: string | null;
                /** @description What the store has; null: nothing, or it is refused */
                readonly before: {
                    readonly [key: string]: unknown;
                } | null;
                /** @description What it would have; null: it is refused */
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
            /** @description Further settings that the vendor needs, as text, such as apiVersion for azure-openai. */
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
            /** @description null: it was removed */
            readonly document: {
                readonly [key: string]: unknown;
            } | null;
            /** Format: date-time */
            readonly changedAt: string;
            readonly actor: string;
        };
        readonly ChannelTest: {
            readonly ok: boolean;
            readonly model: string | null;
            readonly durationMs: number;
            readonly message: string;
            /** @description What was sent and came back, secrets removed, 16 KiB of each body */
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
                readonly model: string;
                /** @description By which callers get it */
                readonly name: string | null;
                readonly kind: string;
                readonly context: number | null;
                /** @description Why callers would not */
                readonly problem: string | null;
            }[];
        };
        readonly Arrival: {
            readonly requestId: string;
            /** Format: date-time */
            readonly at: string;
            /**
             * @description `ok`: it reached a vendor or was answered, whatever the result
             * @enum {string}
             */
            readonly outcome: "ok" | "mistake";
            /**
             * @description What is wrong with it, or `ok`; others may come
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
            readonly status: number;
            /** @description null if it reached a vendor */
            readonly method: string | null;
            /** @description null if it reached a vendor */
            readonly path: string | null;
            readonly model: string | null;
            readonly userAgent: string | null;
            readonly keyId: string | null;
            readonly address: string | null;
            /**
             * @description How the request is attributed to the caller: by its key, or only by its address. null: an operator views all
             * @enum {string|null}
             */
            readonly by: "key" | "address" | null;
            /** @description What was probably meant: a path or a model */
            readonly suggestion: string | null;
            /** @description For people, in English */
            readonly detail: string;
        };
        readonly ConfigurationItem: {
            readonly id: string;
            /**
             * @description Whose word counts
             * @enum {string}
             */
            readonly origin: "file" | "built-in" | "stored";
            /** @description As the configuration file would have it; *** stands for a secret */
            readonly document: {
                readonly [key: string]: unknown;
            };
            /** @description The store has one of this name too, and the file stands above it */
            readonly overridden: boolean;
            /** @description Of what the store has; 0: nothing */
            readonly revision: number;
            /** Format: date-time */
            readonly changedAt: string | null;
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
            /** @description Most tokens of one reply; left out: as in the built-in catalogue, else unknown. */
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
            /** @description Most tokens of one reply; left out: as in the built-in catalogue, else unknown. */
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
            /** Format: date-time */
            readonly at: string;
            readonly actor: string;
            /** @enum {string} */
            readonly role: "user" | "admin" | "auditor";
            readonly action: string;
            readonly target: {
                readonly [key: string]: string;
            };
            readonly detail: {
                readonly [key: string]: unknown;
            };
            readonly address: string | null;
            /** @description What differs, by member; null: not known, or nothing was changed */
            readonly changes: {
                readonly [key: string]: {
                    readonly before?: unknown;
                    readonly after?: unknown;
                };
            } | null;
        };
        readonly Group: {
            readonly id: string;
            readonly multiplier: string;
            /** @description Of some models, by name or by beginning with a * at the end; the longest counts */
            readonly modelMultipliers: {
                readonly [key: string]: string;
            };
            readonly limits: {
                readonly requestsPerMinute?: number;
                readonly tokensPerMinute?: number;
                readonly concurrentRequests?: number;
            };
            readonly models: readonly string[];
            readonly public: boolean;
            readonly hasKeys: boolean;
        };
        readonly GroupUse: {
            readonly id: string;
            /** @description That may make keys of it by name */
            readonly people: number;
            /** @description That may still be used */
            readonly invitations: number;
            readonly keys: number;
            /** @description That serve it */
            readonly channels: readonly string[];
            /** @description A new account gets it */
            readonly isDefault: boolean;
            /** @description Of the last 24 hours */
            readonly requests: number;
            readonly chargeNano: string;
        };
        readonly HistoryChoice: {
            readonly account: string;
            /** @enum {string|null} */
            readonly mode: "off" | "metadata" | "sealed" | "full" | null;
            readonly retentionDays: number | null;
            readonly publicKey: string | null;
            readonly revision: number;
            readonly inForce: {
                /** @enum {string} */
                readonly mode: "off" | "metadata" | "sealed" | "full";
                readonly retentionDays: number;
            };
            readonly allowed: {
                /** @enum {string} */
                readonly mode: "off" | "metadata" | "sealed" | "full";
                readonly retentionDays: number;
            };
        };
        readonly HistorySummary: {
            readonly requestId: string;
            /** Format: date-time */
            readonly at: string;
            readonly account: string;
            readonly key: string;
            readonly keyName: string;
            readonly model: string;
            readonly operation: string;
            /** @description The client's format: `openai-chat`, ... */
            readonly format: string;
            readonly stream: boolean;
            readonly status: number;
            /** @enum {string} */
            readonly mode: "metadata" | "sealed" | "full";
            readonly requestBytes: number;
            readonly replyBytes: number;
            readonly parameters: readonly string[];
            /** @description A body was longer than is kept */
            readonly truncated: boolean;
            readonly hasBody: boolean;
            /** Format: date-time */
            readonly expiresAt: string;
        };
        readonly HistoryMessage: components["schemas"]["HistorySummary"] & {
            /** @description There is a body that this caller may not see */
            readonly withheld: boolean;
            readonly body: {
                /** @description JSON as the client's format has it, or text */
                readonly request?: unknown;
                /** @description A stream as the whole reply it would have been */
                readonly reply?: unknown;
                readonly files?: unknown;
                /** @description What vendors were sent: for operators */
                readonly sent?: unknown;
            } | null;
            /** @description Base64; docs/history.md says how to open it */
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
            readonly group: string;
            readonly hint: string;
            /** @enum {string} */
            readonly status: "active" | "disabled" | "expired";
            /** @description By the configuration file: changed there alone */
            readonly declared: boolean;
            /** Format: date-time */
            readonly createdAt: string | null;
            /** Format: date-time */
            readonly expiresAt: string | null;
            /** Format: date-time */
            readonly disabledAt: string | null;
            /**
             * Format: date-time
             * @description Until when the secret before the last rotation works
             */
            readonly previousUntil: string | null;
            readonly models: readonly string[] | null;
            readonly deniedModels: readonly string[] | null;
            readonly addresses: readonly string[] | null;
            /** @enum {string|null} */
            readonly historyMode: "off" | "metadata" | "full" | "sealed" | null;
            readonly showCost: boolean;
            readonly limits: {
                readonly requestsPerMinute: number | null;
                readonly tokensPerMinute: number | null;
                readonly concurrentRequests: number | null;
            };
            readonly spendLimit: {
                /** @description Nano-units of the currency, a whole number */
                readonly amountNano: string;
                /** @description Nano-units of the currency, a whole number */
                readonly spentNano: string;
                /** @enum {string} */
                readonly period: "day" | "week" | "month" | "never";
                readonly timeZone: string;
                /** Format: date-time */
                readonly resetsAt: string | null;
            } | null;
            readonly currency: string;
            /** @description From midnight in UTC on */
            readonly today: {
                readonly requests: number;
                /** @description Nano-units of the currency, a whole number */
                readonly chargeNano: string;
            };
            /** @description The first of the month. From midnight in UTC on */
            readonly month: {
                readonly requests: number;
                /** @description Nano-units of the currency, a whole number */
                readonly chargeNano: string;
            };
            /** @description Noted at most once a minute */
            readonly lastUsed: {
                /** Format: date-time */
                readonly at: string;
                readonly address: string | null;
                readonly client: string | null;
            } | null;
            readonly revision: number;
        };
        readonly KeySummary: {
            readonly active: number;
            readonly disabled: number;
            readonly expired: number;
            readonly currency: string;
            /** @description By these keys. From midnight in UTC on */
            readonly today: {
                readonly requests: number;
                /** @description Nano-units of the currency, a whole number */
                readonly chargeNano: string;
            };
            /** @description By these keys, since the first. From midnight in UTC on */
            readonly month: {
                readonly requests: number;
                /** @description Nano-units of the currency, a whole number */
                readonly chargeNano: string;
            };
        };
        readonly KeyWithSecret: components["schemas"]["Key"] & {
            /** @description Shown this once */
            readonly secret: string;
        };
        readonly KeyImpact: {
            readonly id: string;
            readonly requestsLastDay: number;
            /** Format: date-time */
            readonly since: string;
            /** @description Noted at most once a minute */
            readonly lastUsed: {
                /** Format: date-time */
                readonly at: string;
                readonly address: string | null;
                readonly client: string | null;
            } | null;
            readonly currency: string;
            readonly month: {
                readonly requests: number;
                /** @description Nano-units of the currency, a whole number */
                readonly chargeNano: string;
            };
        };
        readonly KeyTest: {
            readonly id: string;
            readonly admitted: boolean;
            readonly reasons: readonly {
                readonly code: string;
                readonly message: string;
            }[];
            readonly models: readonly string[];
        };
        readonly ManagementKey: {
            readonly id: string;
            readonly name: string;
            /** @description null: the whole deployment */
            readonly account: string | null;
            readonly hint: string;
            readonly scopes: readonly ("read" | "write")[];
            /** @enum {string} */
            readonly status: "active" | "disabled" | "expired";
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string | null;
            /** Format: date-time */
            readonly disabledAt: string | null;
            /**
             * Format: date-time
             * @description Noted at most once a minute
             */
            readonly lastUsedAt: string | null;
            readonly revision: number;
        };
        readonly ManagementKeyWithSecret: components["schemas"]["ManagementKey"] & {
            /** @description Shown this once */
            readonly secret: string;
        };
        readonly Person: {
            /** @description The account */
            readonly id: string;
            readonly name: string;
            readonly email: string | null;
            readonly emailVerified: boolean;
            /** @enum {string} */
            readonly role: "user" | "admin" | "auditor";
            /** @description That keys may be made for; null: all */
            readonly groups: readonly string[] | null;
            /** @enum {string} */
            readonly status: "active" | "suspended" | "deleted";
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly suspendedAt: string | null;
            /** Format: date-time */
            readonly deletedAt: string | null;
            readonly identities: readonly components["schemas"]["Identity"][];
            readonly revision: number;
        };
        readonly Identity: {
            readonly id: string;
            readonly issuer: string;
            readonly subject: string;
            readonly name: string;
            readonly email: string | null;
            readonly emailVerified: boolean;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly usedAt: string;
        };
        readonly Session: {
            readonly id: string;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly usedAt: string;
            /** Format: date-time */
            readonly expiresAt: string;
            readonly address: string | null;
            readonly client: string | null;
            /** @description The one that asks */
            readonly current: boolean;
        };
        readonly Model: {
            readonly id: string;
            /** @enum {string} */
            readonly kind: "chat" | "completion" | "embedding" | "image" | "transcription" | "translation" | "speech" | "video" | "moderation" | "rerank" | "realtime";
            readonly vendor: string;
            readonly context: number | null;
            readonly maxOutput: number | null;
            readonly inputs: readonly ("text" | "image" | "audio" | "video")[];
            readonly outputs: readonly ("text" | "image" | "audio" | "video")[];
            readonly vision: boolean;
            /** @description null: not known */
            readonly tools: boolean | null;
            /** @description null: not known */
            readonly reasoning: boolean | null;
            /** @description Answers in JSON that keeps to a schema (`response_format`); null: not known */
            readonly jsonSchema: boolean | null;
            readonly endpoints: readonly string[];
            /** Format: date-time */
            readonly since: string;
            readonly group: string;
            readonly currency: string;
            readonly price: {
                readonly version: number;
                /** Format: date-time */
                readonly from: string | null;
                /** Format: date-time */
                readonly updatedAt: string;
                /** @enum {string} */
                readonly origin: "file" | "shipped" | "set" | "import";
                readonly multiplier: string;
                readonly lines: readonly components["schemas"]["PriceLine"][];
            };
            readonly groups: readonly string[];
            readonly keyGroups: readonly string[];
            readonly live: components["schemas"]["ModelLive"];
        };
        readonly PriceLine: {
            /** @example input>200000 */
            readonly name: string;
            /** @example token */
            readonly unit: string;
            /** @description Of prompts longer than so many tokens */
            readonly above: number;
            /** @description For a million, with the multiplier */
            readonly priceNano: string;
            /** @description For a million, without the multiplier */
            readonly baseNano: string;
            /** @description What the vendor publishes */
            readonly officialNano: string | null;
        };
        /** @description Of the last 24 hours, all accounts together; null below 30 requests */
        readonly ModelLive: {
            /** @description Requests that `ttft` and `speed` are of, however few */
            readonly begun: number;
            /** @description Requests that `success` is of, however few */
            readonly tried: number;
            readonly ttft: {
                readonly p50Ms: number;
                readonly p95Ms: number;
                /** @description Of so many requests */
                readonly sample: number;
            } | null;
            readonly speed: {
                readonly tokensPerSecond: number;
                /** @description Of so many requests */
                readonly sample: number;
            } | null;
            readonly success: {
                readonly percent: number;
                /** @description Of so many requests */
                readonly sample: number;
            } | null;
        } | null;
        readonly PriceChange: {
            readonly model: string;
            readonly version: number;
            /** Format: date-time */
            readonly from: string;
            /** Format: date-time */
            readonly announcedAt: string;
            /** @enum {string} */
            readonly state: "scheduled" | "in force" | "past";
            readonly lines: readonly components["schemas"]["PriceLine"][];
            readonly steps: readonly {
                readonly name: string;
                readonly beforeNano: string | null;
                readonly afterNano: string | null;
                /** @example +33.3 */
                readonly percent: string | null;
            }[];
        };
        readonly Operations: {
            /** Format: date-time */
            readonly at: string;
            readonly timeZone: string;
            readonly currency: string;
            readonly processes: {
                /** @description That said how they do: this one, and those that took requests lately */
                readonly known: number;
                /** @description false: the first look, which no other process has heard of; ask again */
                readonly complete: boolean;
                /**
                 * Format: date-time
                 * @description Of the one that runs longest
                 */
                readonly startedAt: string;
            };
            readonly requests: {
                /** @description Of the processes that are known */
                readonly running: number;
                /** @description Of the last whole minute */
                readonly perSecond: number;
                /** @description The last 60 whole minutes, by when requests began; settled ones */
                readonly minutes: readonly {
                    /** Format: date-time */
                    readonly at: string;
                    readonly requests: number;
                }[];
                /** @description Of whole quarters of an hour, at least an hour of them */
                readonly lastHour: {
                    /** Format: date-time */
                    readonly since: string;
                    /** Format: date-time */
                    readonly until: string;
                    readonly requests: number;
                    readonly failed: number;
                    /** @description null: there was no request */
                    readonly successRate: number | null;
                };
            };
            /** @description Time of our own that requests took, by phase, since each process started */
            readonly overhead: {
                readonly auth: components["schemas"]["Overhead"];
                readonly route: components["schemas"]["Overhead"];
                readonly settle: components["schemas"]["Overhead"];
            };
            readonly settlement: {
                /** @description Finished requests that are not in the ledger yet */
                readonly unsettled: number;
                readonly oldestUnsettledMs: number;
                /** @description At most 1000 */
                readonly setAside: number;
                /** @description Why processes let no request begin; empty: they do */
                readonly closed: readonly string[];
            };
            readonly errors: {
                /**
                 * Format: date-time
                 * @description Of the last hour, or of its last 50 000 requests
                 */
                readonly since: string;
                readonly items: readonly {
                    readonly code: string;
                    readonly requests: number;
                    /** Format: date-time */
                    readonly lastAt: string;
                    /** @description One of the newest */
                    readonly requestId: string;
                }[];
            };
            readonly channels: readonly components["schemas"]["ChannelHealth"][];
            readonly money: {
                readonly today: components["schemas"]["OperationsMoney"];
                readonly days7: components["schemas"]["OperationsMoney"];
                readonly days30: components["schemas"]["OperationsMoney"];
                /** @description Given to all wallets today */
                readonly creditedTodayNano: string;
            };
            readonly alerts: readonly components["schemas"]["OperationsAlert"][];
        };
        readonly Overhead: {
            /** @description How many were measured */
            readonly requests: number;
            readonly p50Ms: number | null;
            readonly p95Ms: number | null;
            readonly p99Ms: number | null;
        };
        readonly ChannelHealth: {
            readonly id: string;
            readonly vendor: string;
            /** @enum {string} */
            readonly state: "ok" | "degraded" | "open" | "disabled";
            /** @description breaker, rate_limited, quota, credentials, failing or configuration; null: it is well */
            readonly reason: string | null;
            /** @description The kind of the last attempt's fault */
            readonly fault: string | null;
            /** Format: date-time */
            readonly since: string | null;
        };
        readonly OperationsMoney: {
            /** Format: date-time */
            readonly since: string;
            /** Format: date-time */
            readonly until: string;
            readonly revenueNano: string;
            /** @description What no wallet could pay */
            readonly writeoffNano: string;
            /** @description All attempts at the models' own prices, without the group's multiplier */
            readonly vendorCostNano: string;
            /** @description Revenue less the cost at the vendors */
            readonly marginNano: string;
        };
        readonly OperationsAlert: {
            /** @enum {string} */
            readonly code: "ledger_closed" | "channel_disabled" | "channel_open" | "settlement_late" | "set_aside" | "records_missing" | "reconcile_difference" | "price_missing" | "archive_failing" | "export_failing" | "warning";
            /** @enum {string} */
            readonly severity: "critical" | "warning";
            /** @description A channel, a model, a destination, or a bill */
            readonly subject: string | null;
            readonly message: string;
            /** @description What the message counts: seconds, settlements, records, places, or refused requests */
            readonly count: number | null;
            /** @description What the code does not say of it, in the words of who said it */
            readonly cause: string | null;
            /** Format: date-time */
            readonly since: string | null;
        };
        readonly PaymentOffer: {
            readonly account: string;
            readonly currency: string;
            /** @enum {string} */
            readonly mode: "play" | "live";
            readonly minimum: string;
            readonly maximum: string;
            readonly orderMinutes: number;
            readonly providers: readonly {
                readonly name: string;
                readonly currency: string;
                readonly methods: readonly string[];
                /** @description What one unit of it is credited as */
                readonly rate: string;
                readonly presets: readonly {
                    readonly amount: string;
                    readonly creditNano: string;
                    readonly bonusNano: string;
                }[];
                /** @description Of the amount that was asked about */
                readonly asked: {
                    readonly amount: string;
                    readonly creditNano: string;
                    readonly bonusNano: string;
                } | null;
            }[];
            /** @description null: there is none for this account, or no more */
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
            readonly paidNano: string;
            /** @description Of the balance */
            readonly bonusNano: string;
            /** Format: date-time */
            readonly bonusExpiresAt: string | null;
            readonly refundableNano: string;
        };
        readonly Order: {
            readonly id: string;
            readonly account: string;
            /** @enum {string} */
            readonly provider: "alipay" | "wechatpay" | "stripe";
            /**
             * @description play: of the simulator, no real money
             * @enum {string}
             */
            readonly mode: "play" | "live";
            readonly method: string;
            readonly amount: string;
            /** @description Of `amount`: the provider’s */
            readonly currency: string;
            /** @description At the rate of when it was ordered */
            readonly creditNano: string;
            /** @description Given with it, where nobody has had it before */
            readonly bonusNano: string;
            /** @enum {string} */
            readonly state: "created" | "shown" | "paid" | "credited" | "part_refunded" | "refunded" | "expired" | "closed" | "disputed";
            readonly flag: string | null;
            /** @description The provider’s own, of what was paid first */
            readonly tradeNumber: string | null;
            /** @description An address to open, or what a QR code says; null: no more */
            readonly pay: {
                /** @enum {string} */
                readonly kind: "redirect" | "qr" | "bridge";
                readonly url: string;
                /** @description Of `bridge`: what `getBrandWCPayRequest` of WeChat’s browser is given */
                readonly bridge?: {
                    readonly [key: string]: string;
                };
            } | null;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string;
            /** Format: date-time */
            readonly creditedAt: string | null;
            /** Format: date-time */
            readonly endedAt: string | null;
            readonly revision: number;
        };
        readonly OrderDetails: components["schemas"]["Order"] & {
            /** @description Of what was paid, in `currency`; `0.00` while it is disputed */
            readonly refundable: string;
            readonly payments: readonly {
                /** @description The provider’s own number */
                readonly id: string;
                readonly amount: string;
                readonly creditNano: string;
                readonly outcome: string;
                /**
                 * Format: date-time
                 * @description When it was credited
                 */
                readonly at: string;
            }[];
            readonly refunds: readonly {
                readonly id: string;
                /** @enum {string} */
                readonly state: "pending" | "done" | "failed";
                readonly amount: string;
                readonly amountNano: string;
                readonly clawbackNano: string;
                readonly reason: string;
                /** Format: date-time */
                readonly at: string;
                /** Format: date-time */
                readonly endedAt: string | null;
                readonly failure: string | null;
            }[];
            readonly givenBonusNano: string;
            readonly timeline: readonly {
                /** Format: date-time */
                readonly at: string;
                readonly what: string;
                readonly detail: string | null;
            }[];
        };
        readonly PaymentBill: {
            readonly provider: string;
            /** Format: date */
            readonly day: string;
            readonly currency: string;
            readonly payments: number;
            readonly paid: string;
            readonly refunds: number;
            readonly refunded: string;
            /** @description The first 1,000 */
            readonly differences: readonly {
                /** @enum {string} */
                readonly kind: "payment_not_booked" | "payment_not_billed" | "refund_not_booked" | "refund_not_billed" | "amount";
                readonly transactionId: string;
                readonly orderId: string;
                /** @description null: it is of a payment */
                readonly refundId: string | null;
                /** @description null: it is not in the bill */
                readonly billed: string | null;
                /** @description null: it was not booked */
                readonly booked: string | null;
                /** @description Whether there is such an order here */
                readonly isOrder: boolean;
            }[];
            readonly moreDifferences: number;
        };
        readonly RefundPlan: {
            readonly amount: string;
            readonly amountNano: string;
            /** @description Of the bonus, taken back with it */
            readonly clawbackNano: string;
        };
        readonly Refund: {
            readonly id: string;
            /** @enum {string} */
            readonly state: "pending" | "done" | "failed";
            readonly amount: string;
            readonly amountNano: string;
            readonly clawbackNano: string;
            readonly reason: string;
            readonly actor: string;
            /** Format: date-time */
            readonly at: string;
            /** Format: date-time */
            readonly endedAt: string | null;
            readonly failure: string | null;
        };
        readonly ListedPerson: components["schemas"]["Person"] & {
            readonly currency: string;
            /** @description With what running requests hold */
            readonly balanceNano: string;
            /** @description Of the last 30 days */
            readonly spendNano: string;
            /** @description That were made here, whether they work or not */
            readonly keys: number;
            /**
             * Format: date-time
             * @description When a session, a provider or a key was last used; null: never
             */
            readonly lastSeenAt: string | null;
        };
        readonly Invitation: {
            readonly id: string;
            readonly note: string;
            /** @enum {string} */
            readonly role: "user" | "admin" | "auditor";
            /** @description Of the account it makes; null: those of new accounts */
            readonly groups: readonly string[] | null;
            /** @enum {string} */
            readonly status: "open" | "used" | "revoked" | "expired";
            readonly createdBy: string;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string;
            /** Format: date-time */
            readonly revokedAt: string | null;
            /** Format: date-time */
            readonly usedAt: string | null;
            /** @description The account it made */
            readonly usedBy: string | null;
        };
        readonly PlaygroundKey: {
            readonly id: string;
            readonly group: string;
            /** @description The secret, shown this once */
            readonly key: string;
            /** Format: date-time */
            readonly expiresAt: string;
        };
        readonly Preferences: {
            /** @enum {string|null} */
            readonly language: "en" | "zh-CN" | null;
            /** @enum {string} */
            readonly theme: "system" | "light" | "dark";
            /** @enum {string} */
            readonly density: "comfortable" | "compact";
            readonly timeZone: string | null;
            readonly views: readonly {
                readonly name: string;
                readonly page: string;
                readonly search: string;
                readonly columns?: {
                    readonly [key: string]: boolean;
                };
            }[];
            readonly columns: {
                readonly [key: string]: unknown;
            };
            /** @description 0: never set */
            readonly revision: number;
        };
        readonly ListedPriceCard: {
            readonly model: string;
            readonly version: number;
            /** Format: date-time */
            readonly from: string;
            /** @enum {string} */
            readonly origin: "file" | "shipped" | "set" | "import";
            /** @description By name, decimals for a million of the unit */
            readonly prices: {
                readonly [key: string]: string;
            };
            readonly source: string;
            readonly sourceDate: string | null;
            readonly actor: string | null;
            /** Format: date-time */
            readonly createdAt: string;
            /** @enum {string} */
            readonly state: "in force" | "scheduled" | "replaced";
        };
        readonly PriceChangeMade: {
            readonly card: components["schemas"]["PriceCard"];
            readonly differences: readonly components["schemas"]["PriceDifference"][];
            readonly isUnknown: boolean;
            /** @description Without it requests are refused */
            readonly missing: string | null;
            /** @description It holds once the file prices it no more */
            readonly isInFile: boolean;
        };
        /** @description null: nothing was done, as a difference is large and allowLarge was not said */
        readonly PriceCard: {
            readonly model: string;
            readonly version: number;
            /** Format: date-time */
            readonly from: string;
            /** @enum {string} */
            readonly origin: "file" | "shipped" | "set" | "import";
            /** @description By name, decimals for a million of the unit */
            readonly prices: {
                readonly [key: string]: string;
            };
            readonly source: string;
            readonly sourceDate: string | null;
            readonly actor: string | null;
            /** Format: date-time */
            readonly createdAt: string;
        } | null;
        readonly PriceDifference: {
            readonly name: string;
            readonly before: string | null;
            readonly after: string | null;
            readonly percent: string | null;
            readonly large: boolean;
        };
        readonly MissingPrice: {
            readonly model: string;
            readonly reason: string;
            /** @description That have it */
            readonly groups: readonly string[];
            /** @description That name it; one of a pattern, or of all its vendor has, names none */
            readonly channels: readonly string[];
            /** @description Of the last 7 days, or of their newest 50 000 requests: refused with 503 before any channel was asked */
            readonly refused: number;
        };
        readonly ShippedPriceDifference: {
            readonly model: string;
            /** @description Of the card in force */
            readonly version: number;
            /** @enum {string} */
            readonly origin: "file" | "shipped" | "set" | "import";
            /** @description By name, decimals for a million of the unit */
            readonly prices: {
                readonly [key: string]: string;
            };
            /** @description By name, decimals for a million of the unit */
            readonly shipped: {
                readonly [key: string]: string;
            };
            /** @description Of the shipped prices */
            readonly source: string;
            readonly sourceDate: string | null;
            readonly differences: readonly components["schemas"]["PriceDifference"][];
        };
        readonly PriceEffect: {
            readonly currency: string;
            /** Format: date-time */
            readonly since: string;
            /** Format: date-time */
            readonly until: string;
            /**
             * Format: date-time
             * @description Requests before this moment were not looked at: there are too many
             */
            readonly coveredSince: string | null;
            /** @description That asked for the model by this name */
            readonly requests: number;
            /** @description What was paid and what was written off */
            readonly thenNano: string;
            readonly proposedNano: string;
            /** @description Above 0: dearer */
            readonly differenceNano: string;
            /** @description In no sum: they used what the card has no price for, which would be free */
            readonly unpriced: {
                readonly requests: number;
                readonly thenNano: string;
            };
        };
        readonly PriceImport: {
            readonly applied: boolean;
            readonly models: number;
            readonly changes: readonly {
                readonly model: string;
                /** @description By name, decimals for a million of the unit */
                readonly prices: {
                    readonly [key: string]: string;
                };
                readonly source: string;
                readonly sourceDate: string | null;
                readonly before: {
                    readonly version: number;
                    /** @description By name, decimals for a million of the unit */
                    readonly prices: {
                        readonly [key: string]: string;
                    };
                } | null;
                readonly differences: readonly components["schemas"]["PriceDifference"][];
            }[];
            readonly versions: readonly number[];
            readonly refused: readonly string[];
            readonly inFile: readonly string[];
        };
        readonly Reconciled: {
            readonly currency: string;
            /** Format: date-time */
            readonly since: string;
            /**
             * Format: date-time
             * @description What this answer goes to
             */
            readonly until: string;
            readonly ok: boolean;
            readonly items: readonly components["schemas"]["ReconciledDay"][];
            /** @description The first 100 */
            readonly differences: readonly components["schemas"]["ReconcileDifference"][];
            readonly moreDifferences: number;
            /** @description The cursor of what comes after; null: all of the period is done */
            readonly next: string | null;
        };
        readonly ReconciledDay: {
            /**
             * Format: date
             * @description In UTC
             */
            readonly day: string;
            readonly account: string;
            /**
             * @description pruned: its requests are kept no more, and there are totals alone
             * @enum {string}
             */
            readonly state: "equal" | "different" | "pruned";
            readonly rows: components["schemas"]["ReconciledSum"];
            /** @description What the journal has */
            readonly entries: {
                readonly chargeNano: string;
                readonly writeoffNano: string;
            } | null;
            readonly totals: components["schemas"]["ReconciledSum"] & unknown;
        };
        /** @description What the requests say */
        readonly ReconciledSum: {
            readonly requests: number;
            readonly chargeNano: string;
            readonly writeoffNano: string;
        } | null;
        readonly ReconcileDifference: {
            readonly requestId: string;
            readonly account: string;
            /** Format: date-time */
            readonly at: string;
            /**
             * @description entry: the journal has something else for it; price: its tokens at its prices give another amount; row: an entry without a request
             * @enum {string}
             */
            readonly kind: "entry" | "price" | "row";
            readonly message: string;
        };
        readonly OrderReceipt: {
            readonly number: string;
            /** @description `payments.issuer` */
            readonly issuer: string | null;
            readonly account: string;
            readonly name: string;
            /** @enum {string} */
            readonly provider: "alipay" | "wechatpay" | "stripe";
            /** @enum {string} */
            readonly mode: "play" | "live";
            readonly state: string;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly asOf: string;
            /** @description Of payments and refunds: the provider’s */
            readonly currency: string;
            readonly payments: readonly {
                readonly id: string;
                readonly amount: string;
                /** Format: date-time */
                readonly at: string;
                readonly creditNano: string;
                readonly outcome: string;
            }[];
            readonly paid: string;
            readonly refunds: readonly {
                readonly id: string;
                readonly amount: string;
                /** Format: date-time */
                readonly at: string;
                /** @enum {string} */
                readonly state: "pending" | "done" | "failed";
                readonly amountNano: string;
                readonly clawbackNano: string;
                readonly reason: string;
                /** Format: date-time */
                readonly endedAt: string | null;
                readonly failure: string | null;
            }[];
            /** @description With what is not confirmed yet */
            readonly refunded: string;
            readonly creditCurrency: string;
            readonly creditNano: string;
            readonly bonusNano: string;
            /** @description By refunds, of credit and bonus */
            readonly takenNano: string;
        };
        readonly PaymentHealth: {
            /** @enum {string} */
            readonly mode: "play" | "live";
            readonly providers: readonly {
                readonly name: string;
                /** @description Where its messages are to arrive */
                readonly address: string;
                /**
                 * Format: date-time
                 * @description Of the last message
                 */
                readonly receivedAt: string | null;
                /**
                 * Format: date-time
                 * @description Of the last that was refused
                 */
                readonly refusedAt: string | null;
                /** @description Why that was refused */
                readonly problem: string | null;
                /**
                 * Format: date-time
                 * @description Of the last order
                 */
                readonly creditedAt: string | null;
                /** @description Orders that have not ended */
                readonly open: number;
                /** @description Of these, older than two minutes */
                readonly stuck: number;
            }[];
        };
        readonly CallbackTest: {
            readonly address: string;
            /**
             * @description arrived: nothing is in the way
             * @enum {string}
             */
            readonly outcome: "arrived" | "unknown_host" | "unreachable" | "tls" | "slow" | "redirect" | "not_found" | "other_deployment" | "page" | "blocked" | "unavailable" | "other_program";
            /** @description What was answered, if anything */
            readonly status: number | null;
            /** @description Where a redirect leads, or how the connection failed */
            readonly detail: string | null;
            /** @description Whether its host is on the public internet, as this process resolves it */
            readonly isPublic: boolean;
            /** @description Whether it is https */
            readonly isSecure: boolean;
            readonly tookMs: number;
        };
        readonly NewRedemptionBatch: components["schemas"]["RedemptionBatch"] & {
            readonly secrets: readonly string[];
        };
        readonly RedemptionBatch: {
            readonly id: string;
            readonly note: string;
            /** @description Of each code */
            readonly amountNano: string;
            readonly currency: string;
            readonly codes: number;
            readonly redeemed: number;
            readonly actor: string;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string | null;
            /** Format: date-time */
            readonly revokedAt: string | null;
        };
        readonly Found: {
            /** @enum {string} */
            readonly kind: "request" | "key" | "model" | "account" | "channel" | "order";
            readonly id: string;
            readonly title: string;
            /** @description A hint of a key, a status and a time, ... */
            readonly detail: string;
            /** @description Whose it is; null: nobody’s */
            readonly account: string | null;
        };
        readonly Setting: {
            /** @enum {string} */
            readonly name: "identity.signUp" | "identity.defaultGroup" | "usage.keepDays" | "history.mode" | "history.keepDays" | "notices" | "statusPage";
            readonly value: string | number | boolean | null | readonly unknown[];
            readonly default: string | number | boolean | null | readonly unknown[];
            /** @description The configuration file says it */
            readonly declared: boolean;
            readonly revision: number;
            /** Format: date-time */
            readonly changedAt: string | null;
            readonly actor: string | null;
        };
        readonly Notice: {
            /** @enum {string} */
            readonly severity: "info" | "warning" | "critical";
            readonly text: {
                readonly [key: string]: string;
            };
            /** Format: date-time */
            readonly from: string | null;
            /** Format: date-time */
            readonly until: string | null;
        };
        readonly Webhook: {
            readonly id: string;
            /** @description Without its query */
            readonly address: string;
            /** @description null: it is told of all */
            readonly events: readonly ("ledger_closed" | "channel_disabled" | "channel_open" | "settlement_late" | "set_aside" | "records_missing" | "reconcile_difference" | "price_missing" | "archive_failing" | "export_failing" | "warning")[] | null;
            /** @description Events that it has not taken yet, of the last 100 */
            readonly waiting: number;
            /** @description The last event that it is told of */
            readonly last: {
                /** Format: date-time */
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
            readonly ok: boolean;
            /** @description Why it was not taken */
            readonly failure: string | null;
        };
        readonly Request: {
            readonly requestId: string;
            /** Format: date-time */
            readonly at: string;
            readonly account: string;
            readonly key: string;
            readonly keyName: string;
            readonly group: string;
            readonly operation: string;
            readonly model: string;
            readonly modelServed: string | null;
            readonly channel?: string | null;
            readonly vendor?: string | null;
            readonly attempts: number;
            readonly stream: boolean;
            readonly status: number;
            readonly tokens: {
                readonly [key: string]: number;
            };
            readonly units: {
                readonly [key: string]: number;
            } | null;
            /** @enum {string} */
            readonly usageSource: "reported" | "drained" | "counted" | "none";
            readonly cost: string;
            readonly formula: string | null;
            /** @description Billionths of the currency */
            readonly chargeNano: string;
            /** @description Billionths of the currency */
            readonly writeoffNano: string;
            /** @description Billionths of the currency */
            readonly vendorCostNano?: string;
            /** @description Billionths of the currency */
            readonly heldNano: string;
            readonly priceVersion: number | null;
            readonly multiplier: string;
            readonly failedAttempts?: readonly {
                readonly [key: string]: unknown;
            }[];
            readonly ttftMs: number | null;
            readonly durationMs: number;
            readonly errorCode: string | null;
            readonly errorCause?: string | null;
            readonly client: string | null;
            readonly clientVersion: string | null;
            readonly vendorRequestId: string | null;
            readonly clientAddress?: string;
            readonly clientRequestId?: string;
            readonly traceId?: string;
        };
        readonly RequestEstimate: {
            readonly requests: number;
            /** @enum {string} */
            readonly bound: "about" | "at_most";
        } | null;
        readonly RunningRequest: {
            readonly requestId: string;
            /** Format: date-time */
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
            readonly ageMs: number;
            readonly ttftMs: number | null;
            readonly inputTokens: number;
            readonly outputTokens: number;
            /** @description Billionths of the currency */
            readonly costNano: string;
            /** @description Billionths of the currency */
            readonly heldNano: string;
        };
        readonly Receipt: {
            readonly priceVersion: number;
            readonly pricedAs: string;
            readonly multiplier: string;
            readonly lines: readonly {
                readonly item: string;
                readonly count: string;
                /** @description Billionths of the currency */
                readonly priceNano: string;
                /** @description Billionths of the currency */
                readonly amountNano: string;
            }[];
            /** @description Billionths of the currency */
            readonly roundingNano: string;
            /** @description Billionths of the currency */
            readonly totalNano: string;
            /** @description Billionths of the currency */
            readonly chargeNano: string;
            /** @description Billionths of the currency */
            readonly writeoffNano: string;
            /** @description Billionths of the currency */
            readonly heldNano: string;
            /** @description Billionths of the currency */
            readonly releasedNano: string;
            readonly entry: string | null;
        } | null;
        readonly Blame: {
            /** @enum {string} */
            readonly party: "request" | "account" | "client" | "gateway" | "vendor";
            readonly message: string;
            readonly charged: boolean;
            readonly next: string;
        } | null;
        readonly Attempt: {
            /** @enum {string} */
            readonly outcome: "answered" | "failed";
            readonly startMs?: number;
            readonly connectMs?: number;
            readonly firstByteMs?: number;
            readonly durationMs?: number;
            readonly then?: string;
            readonly channel?: string | null;
            readonly kind?: string;
            readonly status?: number;
            readonly vendorRequestId?: string;
            /** @description Billionths of the currency */
            readonly costNano?: string;
        };
        readonly Balance: {
            readonly account: string;
            readonly currency: string;
            readonly availableNano: string;
            readonly heldNano: string;
            readonly postedNano: string;
            readonly bonusNano: string;
        };
        readonly LedgerEntry: {
            readonly id: string;
            readonly code: string;
            /** Format: date-time */
            readonly at: string;
            readonly currency: string;
            readonly effectNano: string;
            readonly balanceNano: string;
            readonly actor: string | null;
            readonly reason: string | null;
            readonly requestId: string | null;
        };
        readonly SharedRequest: {
            readonly requestId: string;
            /** Format: date-time */
            readonly at: string;
            readonly operation: string;
            readonly model: string;
            readonly modelServed: string | null;
            readonly stream: boolean;
            readonly status: number;
            readonly errorCode: string | null;
            readonly tokens: {
                readonly [key: string]: number;
            };
            readonly ttftMs: number | null;
            readonly durationMs: number;
            readonly client: string | null;
            readonly clientVersion: string | null;
            readonly vendorRequestId: string | null;
            readonly blame: components["schemas"]["Blame"];
            readonly attemptList: readonly components["schemas"]["Attempt"][];
            /**
             * Format: date-time
             * @description The link ends then
             */
            readonly expiresAt: string;
        };
        readonly RoutingPreview: {
            readonly model: string;
            readonly group: string;
            /** @description The client's format; null: the model is not served */
            readonly dialect: string | null;
            readonly channels: readonly {
                readonly channel: string;
                /** @description null: it has no list of keys */
                readonly key: string | null;
                /** @description The vendor's own name */
                readonly model: string;
                readonly dialect: string;
                /** @description The client's bytes pass as they are */
                readonly identity: boolean;
                readonly priority: number;
                readonly weight: number;
            }[];
            readonly leftOut: readonly {
                readonly channel: string;
                /** @description null: it has no list of keys */
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
            readonly month: string;
            readonly timeZone: string;
            /** Format: date-time */
            readonly since: string;
            /** Format: date-time */
            readonly until: string;
            /** @description The month is not over */
            readonly open: boolean;
            /** Format: date-time */
            readonly asOf: string;
            readonly currency: string;
            readonly openingNano: string;
            readonly closingNano: string;
            /** @description The sum of `entries` */
            readonly entriesNano: string;
            /** @description The sum of `charges`: opening plus entries less charges is closing */
            readonly chargesNano: string;
            /** @description All but requests, oldest first */
            readonly entries: readonly {
                readonly id: string;
                readonly code: string;
                /** Format: date-time */
                readonly at: string;
                readonly effectNano: string;
                readonly reason: string | null;
            }[];
            readonly charges: readonly {
                readonly key: string;
                /** @description null: it is deleted */
                readonly keyName: string | null;
                readonly model: string;
                /** @description With those that were free */
                readonly requests: number;
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
            /** Format: date-time */
            readonly since: string;
            /** Format: date-time */
            readonly until: string;
            readonly intervals: readonly string[];
            readonly series: readonly {
                /** @description Values by dimension; {} for the others together */
                readonly group: {
                    readonly [key: string]: string;
                };
                readonly otherGroups?: number;
                readonly values?: readonly (number | null)[];
                readonly total?: number | null;
                readonly valuesNano?: readonly string[];
                /** @description In nano-units of the currency */
                readonly totalNano?: string;
            }[];
            readonly total: {
                readonly values?: readonly (number | null)[];
                readonly total?: number | null;
                readonly valuesNano?: readonly string[];
                /** @description In nano-units of the currency */
                readonly totalNano?: string;
            };
            readonly previous: {
                /** Format: date-time */
                readonly since: string;
                /** Format: date-time */
                readonly until: string;
                readonly total: {
                    readonly values?: readonly (number | null)[];
                    readonly total?: number | null;
                    readonly valuesNano?: readonly string[];
                    /** @description In nano-units of the currency */
                    readonly totalNano?: string;
                };
            } | null;
        };
        readonly Breakdown: {
            readonly currency: string;
            readonly timeZone: string;
            readonly by: readonly string[];
            /** Format: date-time */
            readonly since: string;
            /** Format: date-time */
            readonly until: string;
            readonly rows: readonly {
                /** @description Values by dimension; {} for the others together */
                readonly group: {
                    readonly [key: string]: string;
                };
                readonly otherGroups?: number;
                readonly requests: number;
                readonly success: number;
                readonly failed: number;
                readonly tokens: {
                    readonly [key: string]: number;
                };
                /** @description In nano-units of the currency */
                readonly spendNano: string;
                readonly share: number | null;
                readonly errorRate: number | null;
                readonly cacheRate: number | null;
                /** @description In nano-units of the currency */
                readonly writeoffNano?: string;
                /** @description In nano-units of the currency */
                readonly vendorCostNano?: string;
            }[];
            readonly totals: {
                readonly requests: number;
                readonly success: number;
                readonly failed: number;
                readonly tokens: {
                    readonly [key: string]: number;
                };
                /** @description In nano-units of the currency */
                readonly spendNano: string;
                readonly share: number | null;
                readonly errorRate: number | null;
                readonly cacheRate: number | null;
                /** @description In nano-units of the currency */
                readonly writeoffNano?: string;
                /** @description In nano-units of the currency */
                readonly vendorCostNano?: string;
            };
        };
        readonly StatisticsChoices: {
            readonly model: readonly string[];
            readonly key: readonly string[];
            readonly group: readonly string[];
            readonly operation: readonly string[];
            readonly statusClass: readonly string[];
            readonly channel?: readonly string[];
        };
        readonly Overview: {
            readonly currency: string;
            readonly timeZone: string;
            readonly today: {
                /** Format: date-time */
                readonly since: string;
                /** Format: date-time */
                readonly until: string;
                /** @description In nano-units of the currency */
                readonly spendNano: string;
                readonly requests: number;
                readonly tokens: number;
                readonly errorRate: number | null;
                readonly cacheHits: number;
                readonly cacheRate: number | null;
                readonly ttftP50Ms: number | null;
                readonly ttftP95Ms: number | null;
                readonly previous: {
                    /** Format: date-time */
                    readonly since: string;
                    /** Format: date-time */
                    readonly until: string;
                    /** @description In nano-units of the currency */
                    readonly spendNano: string;
                    readonly requests: number;
                    readonly tokens: number;
                    readonly errorRate: number | null;
                    readonly cacheHits: number;
                    readonly cacheRate: number | null;
                    readonly ttftP50Ms: number | null;
                    readonly ttftP95Ms: number | null;
                };
            };
            readonly days7: {
                /** Format: date-time */
                readonly since: string;
                /** Format: date-time */
                readonly until: string;
                /** @description In nano-units of the currency */
                readonly spendNano: string;
                readonly requests: number;
                readonly tokens: number;
                readonly errorRate: number | null;
                readonly cacheHits: number;
                readonly cacheRate: number | null;
                readonly ttftP50Ms: number | null;
                readonly ttftP95Ms: number | null;
                readonly previous: {
                    /** Format: date-time */
                    readonly since: string;
                    /** Format: date-time */
                    readonly until: string;
                    /** @description In nano-units of the currency */
                    readonly spendNano: string;
                    readonly requests: number;
                    readonly tokens: number;
                    readonly errorRate: number | null;
                    readonly cacheHits: number;
                    readonly cacheRate: number | null;
                    readonly ttftP50Ms: number | null;
                    readonly ttftP95Ms: number | null;
                };
            };
            readonly days30: {
                /** Format: date-time */
                readonly since: string;
                /** Format: date-time */
                readonly until: string;
                /** @description In nano-units of the currency */
                readonly spendNano: string;
                readonly requests: number;
                readonly tokens: number;
                readonly errorRate: number | null;
                readonly cacheHits: number;
                readonly cacheRate: number | null;
                readonly ttftP50Ms: number | null;
                readonly ttftP95Ms: number | null;
                readonly previous: {
                    /** Format: date-time */
                    readonly since: string;
                    /** Format: date-time */
                    readonly until: string;
                    /** @description In nano-units of the currency */
                    readonly spendNano: string;
                    readonly requests: number;
                    readonly tokens: number;
                    readonly errorRate: number | null;
                    readonly cacheHits: number;
                    readonly cacheRate: number | null;
                    readonly ttftP50Ms: number | null;
                    readonly ttftP95Ms: number | null;
                };
            };
            readonly balance: {
                readonly account: string;
                readonly currency: string;
                /** @description In nano-units of the currency */
                readonly availableNano: string;
                /** @description In nano-units of the currency */
                readonly heldNano: string;
                /** @description In nano-units of the currency */
                readonly postedNano: string;
            } | null;
            readonly runwayDays: number | null;
        };
        readonly StatusPage: {
            /** Format: date-time */
            readonly at: string;
            /** @description 90 days in UTC, oldest first */
            readonly days: readonly string[];
            /**
             * @description The worst of the models
             * @enum {string}
             */
            readonly state: "operational" | "degraded" | "down" | "unknown";
            readonly models: readonly components["schemas"]["ModelStatus"][];
            readonly incidents: readonly components["schemas"]["Incident"][];
        };
        readonly ModelStatus: {
            readonly model: string;
            /**
             * @description Of the last quarters of an hour; unknown: there were fewer than 10 requests
             * @enum {string}
             */
            readonly state: "operational" | "degraded" | "down" | "unknown";
            /** @description Those at fault themselves (4xx) left out */
            readonly requests: number;
            /** @description null: there was no request */
            readonly successRate: number | null;
            /** @description As `days` */
            readonly daily: readonly {
                /** @description Those at fault themselves (4xx) left out */
                readonly requests: number;
                /** @description null: there was no request */
                readonly successRate: number | null;
            }[];
        };
        readonly Incident: {
            /** @enum {string} */
            readonly severity: "warning" | "critical";
            /** @enum {string} */
            readonly state: "scheduled" | "ongoing" | "over";
            /** @description By language */
            readonly text: {
                readonly [key: string]: string;
            };
            /** Format: date-time */
            readonly from: string | null;
            /** Format: date-time */
            readonly until: string | null;
        };
        readonly Backup: {
            /** @enum {string} */
            readonly engine: "sqlite" | "postgres";
            readonly command: string;
            readonly documentation: string;
        };
        readonly WhatIf: {
            readonly currency: string;
            /** Format: date-time */
            readonly since: string;
            /** Format: date-time */
            readonly until: string;
            /**
             * Format: date-time
             * @description Requests before this moment were not looked at: there are too many
             */
            readonly coveredSince: string | null;
            /** @description false: another model would have counted tokens otherwise */
            readonly exact: boolean;
            readonly total: {
                readonly requests: number;
                /** @description What was paid and what was written off */
                readonly thenNano: string;
                readonly nowNano: string;
                /** @description Above 0: dearer now */
                readonly differenceNano: string;
            };
            readonly keys: readonly {
                readonly key: string;
                readonly keyName: string;
                readonly requests: number;
                /** @description What was paid and what was written off */
                readonly thenNano: string;
                readonly nowNano: string;
                /** @description Above 0: dearer now */
                readonly differenceNano: string;
            }[];
            readonly unpriced: readonly {
                /** @enum {string} */
                readonly reason: "model" | "group" | "kind" | "units";
                readonly requests: number;
                readonly thenNano: string;
            }[];
        };
    };
    responses: {
        /** @description `invalid_request_error`: the request is malformed or out of range, or the vendor refused it as such; `param` names the field. The code may be a finer one, such as `context_length_exceeded`, `content_filter`, `content_policy_violation` or `previous_response_not_found`. */
        readonly Invalid: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `invalid_api_key`: no key, or one that is unknown, disabled or expired. */
        readonly NoKey: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `model_not_found`: no model of that name, or none for this key. `unsupported_endpoint`: an interface that is not offered. `not_found`: no such thing. */
        readonly NotFound: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `request_timeout`: the body did not arrive in time. Send again. */
        readonly Late: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `request_in_progress`: a request with the same `Idempotency-Key` is still running. `reply_not_kept`: it was done, but its reply was not kept. `request_stopped`: it was stopped while it ran, by its account’s owner or an operator. */
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
        /** @description `request_too_large`: the body, or a file or text of a form, is larger than the gateway takes. */
        readonly TooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_media_type`: the body is of a type that is not taken here. */
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
        /** @description `insufficient_quota`: the account cannot pay for the request; with `retry-after`: requests under way hold its money. `rate_limit_exceeded`: a limit of the key or group, or every channel is limited by its vendor. */
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
        /** @description `request_headers_too_large`: the headers are larger than the gateway takes. */
        readonly HeadTooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `server_error`: every vendor answered with an error of its own, or the gateway failed. */
        readonly Failed: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `service_unavailable`: no vendor was available or could be read in time, the gateway is full, or it cannot account for requests at present; `x-should-retry: false` where the model has no price. */
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
        /** @description `invalid_request_error`: the request is malformed or out of range, or the vendor refused it as such; the message names the field. */
        readonly AnthropicInvalid: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `authentication_error`: no key, or one that is unknown, disabled or expired. */
        readonly AnthropicNoKey: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `billing_error`: the account cannot pay for the request; with `retry-after`: requests under way hold its money. */
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
        /** @description `not_found_error`: no model of that name, or none for this key; no such thing. */
        readonly AnthropicNotFound: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `timeout_error`: the body did not arrive in time. Send again. */
        readonly AnthropicLate: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `conflict_error`: a request with the same `Idempotency-Key` is still running; or it was done, and its reply was not kept. */
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
        /** @description `request_too_large`: the body, or a file or text of a form, is larger than the gateway takes. */
        readonly AnthropicTooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `invalid_request_error`: the body is of a type that is not taken here. */
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
        /** @description `rate_limit_error`: a limit of the key or group, or every channel is limited by its vendor. */
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
        /** @description `invalid_request_error`: the headers are larger than the gateway takes. */
        readonly AnthropicHeadTooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `api_error`: every vendor answered with an error of its own, or the gateway failed. */
        readonly AnthropicFailed: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnthropicError"];
            };
        };
        /** @description `api_error`: the model has no price; trying again does not help. */
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
        /** @description `overloaded_error`: no vendor was available or could be read in time, the gateway is full, or it cannot account for requests at present. */
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
        /** @description `invalid_request_error`: the request is malformed or out of range, or the vendor refused it as such; `details` names the field. The code may be a finer one, such as `context_length_exceeded`, `content_filter`, `content_policy_violation` or `previous_response_not_found`. */
        readonly GoogleInvalid: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `invalid_api_key`: no key, or one that is unknown, disabled or expired. */
        readonly GoogleNoKey: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `model_not_found`: no model of that name, or none for this key. `unsupported_endpoint`: an interface that is not offered. `not_found`: no such thing. */
        readonly GoogleNotFound: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `request_timeout`: the body did not arrive in time. Send again. */
        readonly GoogleLate: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `request_in_progress`: a request with the same `Idempotency-Key` is still running. `reply_not_kept`: it was done, but its reply was not kept. `request_stopped`: it was stopped while it ran, by its account’s owner or an operator. */
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
        /** @description `request_too_large`: the body, or a file or text of a form, is larger than the gateway takes. */
        readonly GoogleTooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `unsupported_media_type`: the body is of a type that is not taken here. */
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
        /** @description `insufficient_quota`: the account cannot pay for the request; with `retry-after`: requests under way hold its money. `rate_limit_exceeded`: a limit of the key or group, or every channel is limited by its vendor. */
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
        /** @description `request_headers_too_large`: the headers are larger than the gateway takes. */
        readonly GoogleHeadTooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `server_error`: every vendor answered with an error of its own, or the gateway failed. */
        readonly GoogleFailed: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["GoogleError"];
            };
        };
        /** @description `service_unavailable`: no vendor was available or could be read in time, the gateway is full, or it cannot account for requests at present; `x-should-retry: false` where the model has no price. */
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
        /** @description `invalid_request_error`: the request is malformed or out of range, or the vendor refused it as such; `param` names the field. The code may be a finer one, such as `context_length_exceeded`, `content_filter`, `content_policy_violation` or `previous_response_not_found`. */
        readonly AnyInvalid: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `invalid_api_key`: no key, or one that is unknown, disabled or expired. */
        readonly AnyNoKey: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `invalid_signature`: the address is not one the gateway gave away. */
        readonly AnyBadSignature: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `model_not_found`: no model of that name, or none for this key. `unsupported_endpoint`: an interface that is not offered. `not_found`: no such thing. */
        readonly AnyNotFound: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `file_expired`: the address is past its time. */
        readonly AnyExpired: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `upgrade_required`: this is served over WebSocket. */
        readonly AnySocketOnly: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `request_headers_too_large`: the headers are larger than the gateway takes. */
        readonly AnyHeadTooLarge: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `server_error`: every vendor answered with an error of its own, or the gateway failed. */
        readonly AnyFailed: {
            headers: {
                readonly "x-should-retry": components["headers"]["ShouldRetry"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description `service_unavailable`: no vendor was available or could be read in time, the gateway is full, or it cannot account for requests at present; `x-should-retry: false` where the model has no price. */
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
        /** @description In Anthropic’s format, in place of 503. */
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
        /** @description The request is done once, however often it is sent with this key. */
        readonly IdempotencyKey: string;
        /** @description Whether the reply’s `usage` says what it `cost`; over what the key is made to show. */
        readonly ShowCost: "true" | "false";
        /** @description The request is charged no more than this, in units of the currency. The body’s `max_cost` wins. */
        readonly MaxCost: string;
        /** @description The client’s own name for the request: up to 512 printable ASCII characters without blanks, kept with its record and given back. One of another form is left out. */
        readonly ClientRequestId: string;
        /**
         * @description `2023-06-01`, which is meant where it is missing, or `2026-10-21`, under which sampling is gone.
         * @example 2023-06-01
         */
        readonly AnthropicVersion: string;
    };
    requestBodies: never;
    headers: {
        /** @description Finds the request’s record and its log line. */
        readonly RequestId: string;
        /** @description Milliseconds until the reply’s first byte. */
        readonly ProcessingMs: string;
        /** @description `gateway;dur=A, vendor;dur=B`: the same in the gateway’s own time and the vendor’s. */
        readonly ServerTiming: string;
        /** @description What a whole reply cost, a decimal of the currency. */
        readonly Cost: string;
        /** @description The version of the price card it was charged by. */
        readonly PriceVersion: string;
        /** @description What of the request its vendor or model does not take, and was left out. */
        readonly Dropped: string;
        /** @description Where the key or its group has that limit. */
        readonly RateLimit: string;
        /** @description When the limit is whole again. */
        readonly RateLimitReset: string;
        /** @description `true`: the reply was given before, to the request of `x-tollgate-original-request`. */
        readonly Replayed: string;
        /** @description Which request this reply was made for. */
        readonly OriginalRequest: string;
        /** @description Seconds after which to try again. */
        readonly RetryAfter: string;
        /** @description The same in milliseconds. */
        readonly RetryAfterMs: string;
        /** @description Whether trying again may help. */
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
                /** @description The client’s own name for the request: up to 512 printable ASCII characters without blanks, kept with its record and given back. One of another form is left out. */
                readonly "X-Client-Request-Id"?: components["parameters"]["ClientRequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description `available` and `held` together are `posted`. */
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
                        /** @description A decimal of the currency. */
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
                /** @description Requests of a page. */
                readonly limit?: number;
                /** @description The `last_id` of the page before. */
                readonly after?: string;
                /** @description From a day (UTC) or a time with its offset on. */
                readonly since?: string;
                /** @description Before it. */
                readonly until?: string;
                /** @description The name asked for. */
                readonly model?: string;
                /** @description The HTTP status. */
                readonly status?: number;
                /** @description A key’s id, or `me` for the key that asks. */
                readonly key?: string;
            };
            readonly header?: {
                /** @description The client’s own name for the request: up to 512 printable ASCII characters without blanks, kept with its record and given back. One of another form is left out. */
                readonly "X-Client-Request-Id"?: components["parameters"]["ClientRequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of them, the newest first. */
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
                /** @description The client’s own name for the request: up to 512 printable ASCII characters without blanks, kept with its record and given back. One of another form is left out. */
                readonly "X-Client-Request-Id"?: components["parameters"]["ClientRequestId"];
            };
            readonly path: {
                /** @description The `x-request-id` of its reply. */
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
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Account"][];
                        /** @description The next page’s cursor; null: the last */
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
            /** @description Done */
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
                    readonly amount: string;
                    /** @enum {string} */
                    readonly direction: "credit" | "debit";
                    readonly reference?: string;
                    readonly reason: string;
                    /** @default false */
                    readonly createAccount?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
                    /** @default null */
                    readonly lowBalanceNano?: string | null;
                    /** @default null */
                    readonly daySpendNano?: string | null;
                    /** @default UTC */
                    readonly timeZone?: string;
                    /** @default null */
                    readonly keyLimitPercent?: number | null;
                    /** @default null */
                    readonly errorRatePercent?: number | null;
                    /** @default null */
                    readonly webhook?: string | null;
                    /** @default null */
                    readonly email?: string | null;
                    /** @default false */
                    readonly newCode?: boolean;
                    /** @default false */
                    readonly newSecret?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                    readonly code: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                readonly unread?: boolean;
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["AlertNotice"][];
                        /** @description The next page’s cursor; null: the last */
                        readonly next: string | null;
                        /** @description Of all; 100: or more */
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
                    /** @default null */
                    readonly ids?: readonly string[] | null;
                };
            };
        };
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @description So many were unread */
                        readonly read: number;
                    };
                };
            };
        };
    };
    readonly readAutoTopUp: {
        readonly parameters: {
            readonly query?: {
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly thresholdNano: string;
                    readonly amount: string;
                    readonly monthMost: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Channel"][];
                        /** @description The next page’s cursor; null: the last */
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
            /** @description Done */
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
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Vendor"][];
                        /** @description The next page’s cursor; null: the last */
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
            /** @description Done */
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
                    readonly channels: readonly ({
                        readonly id: string;
                    } & {
                        readonly [key: string]: unknown;
                    })[];
                    /** @default false */
                    readonly apply?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                    readonly ids?: readonly string[];
                    readonly tag?: string;
                    readonly changes: {
                        /** @enum {string} */
                        readonly state?: "enabled" | "draining" | "disabled";
                        readonly priority?: number;
                        readonly weight?: number;
                        readonly groups?: readonly string[] | null;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                /** @description A slash in it is written %2F */
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
            /** @description Done */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @enum {string} */
                    readonly state: "enabled" | "draining" | "disabled";
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ConfigurationVersion"][];
                        /** @description The next page’s cursor; null: the last */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly version: number;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly model?: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                    readonly model?: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
                readonly account?: string;
                readonly since?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Arrival"][];
                        /** @description The next page’s cursor; null: the last */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly followArrivals: {
        readonly parameters: {
            readonly query?: {
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ConfigurationItem"][];
                        /** @description The next page’s cursor; null: the last */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ConfigurationVersion"][];
                        /** @description The next page’s cursor; null: the last */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly listGroups: {
        readonly parameters: {
            readonly query?: {
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Group"][];
                        /** @description The next page’s cursor; null: the last */
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
            /** @description Done */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                /** @description A slash in it is written %2F */
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
            /** @description Done */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly version: number;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ConfigurationItem"][];
                        /** @description The next page’s cursor; null: the last */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ConfigurationVersion"][];
                        /** @description The next page’s cursor; null: the last */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly listModels: {
        readonly parameters: {
            readonly query?: {
                /** @description Whose prices; left out: those of your own first group, or of the first public one */
                readonly group?: string;
                readonly search?: string;
                readonly kind?: "chat" | "completion" | "embedding" | "image" | "transcription" | "translation" | "speech" | "video" | "moderation" | "rerank" | "realtime";
                readonly vendor?: string;
                readonly modality?: "text" | "image" | "audio" | "video";
                readonly context?: number;
                readonly tools?: boolean;
                readonly vision?: boolean;
                readonly reasoning?: boolean;
                readonly jsonSchema?: boolean;
                readonly endpoint?: string;
                readonly sort?: "name" | "price" | "outputPrice" | "newest" | "latency" | "throughput";
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Model"][];
                        /** @description The next page’s cursor; null: the last */
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
            /** @description Done */
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
                /** @description Whose prices; left out: those of your own first group, or of the first public one */
                readonly group?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                /** @description A slash in it is written %2F */
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
            /** @description Done */
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
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly version: number;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                readonly actor?: string;
                readonly action?: string;
                readonly text?: string;
                readonly since?: string;
                readonly until?: string;
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["OperatorEvent"][];
                        /** @description The next page’s cursor; null: the last */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly exportEvents: {
        readonly parameters: {
            readonly query?: {
                readonly actor?: string;
                readonly action?: string;
                readonly text?: string;
                readonly since?: string;
                readonly until?: string;
                readonly format?: "csv" | "json";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
    readonly listGroupUses: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["GroupUse"][];
                        /** @description Who may make keys of any group */
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
            /** @description Done */
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
                    /** @enum {string} */
                    readonly mode: "off" | "metadata" | "sealed" | "full";
                    /** @default null */
                    readonly retentionDays?: number | null;
                    /** @default null */
                    readonly publicKey?: string | null;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
                readonly id?: string;
                readonly account?: string;
                readonly key?: string;
                readonly model?: string;
                readonly hasBody?: boolean;
                readonly text?: string;
                readonly since?: string;
                readonly until?: string;
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["HistorySummary"][];
                        /** @description The next page’s cursor; null: the last */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly deleteHistory: {
        readonly parameters: {
            readonly query?: {
                readonly account?: string;
                readonly since?: string;
                readonly until?: string;
                readonly all?: boolean;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
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
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
                readonly account?: string;
                readonly group?: string;
                readonly status?: "active" | "disabled" | "expired";
                readonly search?: string;
                readonly sort?: "created" | "name" | "lastUsed" | "spend" | "expiry";
                readonly order?: "asc" | "desc";
                readonly playground?: "without" | "with" | "only";
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Key"][];
                        /** @description The next page’s cursor; null: the last */
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
                    readonly account?: string;
                    readonly group: string;
                    readonly name: string;
                    readonly expiresAt?: string | null;
                    readonly models?: readonly string[] | null;
                    readonly deniedModels?: readonly string[] | null;
                    readonly addresses?: readonly string[] | null;
                    readonly requestsPerMinute?: number | null;
                    readonly tokensPerMinute?: number | null;
                    readonly concurrentRequests?: number | null;
                    readonly spendLimit?: {
                        readonly amount?: string;
                        readonly amountNano?: string;
                        /**
                         * @default never
                         * @enum {string}
                         */
                        readonly period?: "day" | "week" | "month" | "never";
                        readonly timeZone?: string | null;
                    } | null;
                    /** @enum {string|null} */
                    readonly historyMode?: "off" | "metadata" | "full" | "sealed" | null;
                    /** @default false */
                    readonly showCost?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
                    readonly name?: string;
                    readonly group?: string;
                    readonly expiresAt?: string | null;
                    readonly models?: readonly string[] | null;
                    readonly deniedModels?: readonly string[] | null;
                    readonly addresses?: readonly string[] | null;
                    readonly requestsPerMinute?: number | null;
                    readonly tokensPerMinute?: number | null;
                    readonly concurrentRequests?: number | null;
                    readonly spendLimit?: {
                        readonly amount?: string;
                        readonly amountNano?: string;
                        /**
                         * @default never
                         * @enum {string}
                         */
                        readonly period?: "day" | "week" | "month" | "never";
                        readonly timeZone?: string | null;
                    } | null;
                    /** @enum {string|null} */
                    readonly historyMode?: "off" | "metadata" | "full" | "sealed" | null;
                    readonly showCost?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                    /** @default 86400 */
                    readonly overlapSeconds?: number;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
                    readonly revision?: number;
                    readonly address?: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                readonly account?: string;
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ManagementKey"][];
                        /** @description The next page’s cursor; null: the last */
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
                    readonly name: string;
                    /** @default null */
                    readonly account?: string | null;
                    readonly scopes: readonly ("read" | "write")[];
                    readonly expiresAt?: string | null;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
                    readonly name?: string;
                    readonly scopes?: readonly ("read" | "write")[];
                    readonly expiresAt?: string | null;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
                    readonly confirm: string;
                    /** @default false */
                    readonly forfeit?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                    readonly name?: string | "";
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Session"][];
                        /** @description The next page’s cursor; null: the last */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly endMySessions: {
        readonly parameters: {
            readonly query?: {
                /** @description true: the session that asks, too */
                readonly everywhere?: "true" | "false";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
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
            /** @description Done */
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
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Identity"][];
                        /** @description The next page’s cursor; null: the last */
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
            /** @description Done */
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
                /** @description Whose prices; left out: those of your own first group, or of the first public one */
                readonly group?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                /** @description Whose prices; left out: those of your own first group, or of the first public one */
                readonly group?: string;
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description A slash in it is written %2F */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["PriceChange"][];
                        /** @description The next page’s cursor; null: the last */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly priceFeedJSON: {
        readonly parameters: {
            readonly query?: {
                /** @description Whose prices; left out: those of your own first group, or of the first public one */
                readonly group?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/feed+json": unknown;
                };
            };
            /** @description Nothing has changed */
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
                /** @description Whose prices; left out: those of your own first group, or of the first public one */
                readonly group?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/rss+xml": string;
                };
            };
            /** @description Nothing has changed */
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
                readonly timeZone?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly account?: string;
                readonly amount?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
                readonly account?: string;
                readonly state?: "created" | "shown" | "paid" | "credited" | "part_refunded" | "refunded" | "expired" | "closed" | "disputed";
                readonly provider?: "alipay" | "wechatpay" | "stripe";
                readonly flagged?: boolean;
                readonly stuck?: boolean;
                readonly number?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Order"][];
                        /** @description The next page’s cursor; null: the last */
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
                    readonly provider: string;
                    readonly method?: string;
                    readonly amount: string;
                    readonly attempt: string;
                    readonly account?: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
                readonly provider: "alipay" | "wechatpay" | "stripe";
                readonly day: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
                    readonly refund?: string;
                    readonly amount?: string;
                    readonly reason: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly code: string;
                readonly state: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly search?: string;
                readonly role?: "user" | "admin" | "auditor";
                readonly status?: "active" | "suspended" | "deleted";
                readonly sort?: "newest" | "spend" | "balance" | "lastSeen";
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ListedPerson"][];
                        /** @description The next page’s cursor; null: the last */
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
            /** @description Done */
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
            /** @description Done */
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
                    readonly name?: string | "";
                    /** @enum {string} */
                    readonly role?: "user" | "admin" | "auditor";
                    readonly groups?: readonly string[] | null;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Invitation"][];
                        /** @description The next page’s cursor; null: the last */
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
                    /** @default  */
                    readonly note?: string | "";
                    /**
                     * @default user
                     * @enum {string}
                     */
                    readonly role?: "user" | "admin" | "auditor";
                    /** @default null */
                    readonly groups?: readonly string[] | null;
                    /** @default 7 */
                    readonly days?: number;
                };
            };
        };
        readonly responses: {
            /** @description Done */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Invitation"] & {
                        /** @description Shown this once */
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
            /** @description Done */
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
                    readonly group?: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
                     * @default null
                     * @enum {string|null}
                     */
                    readonly language?: "en" | "zh-CN" | null;
                    /**
                     * @default system
                     * @enum {string}
                     */
                    readonly theme?: "system" | "light" | "dark";
                    /**
                     * @default comfortable
                     * @enum {string}
                     */
                    readonly density?: "comfortable" | "compact";
                    /** @default null */
                    readonly timeZone?: string | null;
                    /** @default [] */
                    readonly views?: readonly {
                        readonly name: string;
                        readonly page: string;
                        readonly search: string;
                        readonly columns?: {
                            readonly [key: string]: boolean;
                        };
                    }[];
                    /** @default {} */
                    readonly columns?: {
                        readonly [key: string]: unknown;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                readonly model?: string;
                readonly search?: string;
                readonly all?: boolean;
                /** @description Those that have not begun, alone */
                readonly scheduled?: boolean;
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ListedPriceCard"][];
                        /** @description The next page’s cursor; null: the last */
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
                    readonly model: string;
                    readonly prices: {
                        readonly [key: string]: string;
                    };
                    readonly from?: string;
                    readonly source: string;
                    /** @default false */
                    readonly allowLarge?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["MissingPrice"][];
                        /** @description The next page’s cursor; null: the last */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly listShippedPriceDifferences: {
        readonly parameters: {
            readonly query?: {
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["ShippedPriceDifference"][];
                        /** @description The next page’s cursor; null: the last */
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
                    readonly model: string;
                    readonly prices: {
                        readonly [key: string]: string;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                    readonly model: string;
                    readonly version: number;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                    readonly model: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                    readonly model: string;
                    readonly version?: number;
                };
            };
        };
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly card: components["schemas"]["PriceCard"];
                        /** @description It holds once the file prices it no more */
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
                    readonly document: string;
                    readonly vendor?: string;
                    readonly model?: string;
                    /** @default false */
                    readonly apply?: boolean;
                    /** @default false */
                    readonly allowLarge?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                    readonly since: string;
                    readonly until?: string;
                    readonly account?: string;
                    readonly cursor?: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
                readonly format?: "json" | "html";
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
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["RedemptionBatch"][];
                        /** @description The next page’s cursor; null: the last */
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
                    readonly codes: number;
                    readonly amount: string;
                    /** @default  */
                    readonly note?: string;
                    readonly expiresAt?: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly id: string;
                        /** Format: date-time */
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
                    readonly code: string;
                    readonly account?: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly account: string;
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
                readonly q: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
    readonly listSettings: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Setting"][];
                        /** @description The next page’s cursor; null: the last */
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
            /** @description Done */
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
                    /** @description As the file has it */
                    readonly value?: unknown;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Notice"][];
                        /** @description The next page’s cursor; null: the last */
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
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Webhook"][];
                        /** @description The next page’s cursor; null: the last */
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
            /** @description Done */
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
                readonly id?: string;
                readonly account?: string;
                readonly key?: string;
                readonly model?: string;
                readonly modelServed?: string;
                readonly group?: string;
                readonly operation?: string;
                readonly channel?: string;
                readonly client?: string;
                readonly vendorRequestId?: string;
                readonly errorCode?: string;
                readonly stream?: "true" | "false";
                readonly status?: string;
                readonly statusClass?: "1xx" | "2xx" | "3xx" | "4xx" | "5xx";
                readonly minCost?: string;
                readonly minLatencyMs?: string;
                readonly since?: string;
                readonly until?: string;
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Request"][];
                        /** @description The next page’s cursor; null: the last */
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
                readonly id?: string;
                readonly account?: string;
                readonly key?: string;
                readonly model?: string;
                readonly modelServed?: string;
                readonly group?: string;
                readonly operation?: string;
                readonly channel?: string;
                readonly client?: string;
                readonly vendorRequestId?: string;
                readonly errorCode?: string;
                readonly stream?: "true" | "false";
                readonly status?: string;
                readonly statusClass?: "1xx" | "2xx" | "3xx" | "4xx" | "5xx";
                readonly minCost?: string;
                readonly minLatencyMs?: string;
                readonly since?: string;
                readonly until?: string;
                readonly most?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["RunningRequest"][];
                        /** @description The next page’s cursor; null: the last */
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
            /** @description Done */
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
                readonly id?: string;
                readonly account?: string;
                readonly key?: string;
                readonly model?: string;
                readonly modelServed?: string;
                readonly group?: string;
                readonly operation?: string;
                readonly channel?: string;
                readonly client?: string;
                readonly vendorRequestId?: string;
                readonly errorCode?: string;
                readonly stream?: "true" | "false";
                readonly status?: string;
                readonly statusClass?: "1xx" | "2xx" | "3xx" | "4xx" | "5xx";
                readonly minCost?: string;
                readonly minLatencyMs?: string;
                readonly since?: string;
                readonly until?: string;
                readonly format?: "csv" | "json";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly account?: string;
                readonly since?: string;
                readonly until?: string;
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["LedgerEntry"][];
                        /** @description The next page’s cursor; null: the last */
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
                    readonly days?: number;
                };
            };
        };
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly token: string;
                        /** Format: date-time */
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
            /** @description Done */
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
                    readonly model: string;
                    readonly group: string;
                };
            };
        };
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
                        /** @enum {string} */
                        readonly signUp: "open" | "invite" | "closed";
                    };
                };
            };
        };
    };
    readonly signIn: {
        readonly parameters: {
            readonly query?: {
                /** @description Where to go on: a path; / unless given */
                readonly "return-to"?: string;
                /** @description The code of an invitation */
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
            /** @description Done */
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
                readonly code?: string;
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
            /** @description Done */
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
                readonly token?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                /** @description Where to go on: a path; / unless given */
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
            /** @description Done */
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
            /** @description Done */
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
                readonly account?: string;
                readonly timeZone?: string;
                readonly limit?: number;
                /** @description The page before's `next` */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["StatementMonth"][];
                        /** @description The next page’s cursor; null: the last */
                        readonly next: string | null;
                    };
                };
            };
        };
    };
    readonly readStatement: {
        readonly parameters: {
            readonly query?: {
                readonly account?: string;
                readonly timeZone?: string;
                readonly format?: "json" | "csv" | "html";
                readonly language?: "en" | "zh-CN";
            };
            readonly header?: never;
            readonly path: {
                readonly month: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly metric?: "spend" | "requests" | "tokens" | "errors" | "errorRate" | "cacheRate" | "ttftP50" | "ttftP95" | "latencyP50" | "latencyP95" | "throughput";
                readonly by?: string;
                readonly interval?: "auto" | "quarter" | "hour" | "day" | "week" | "month";
                readonly compare?: boolean;
                readonly limit?: number;
                readonly since?: string;
                readonly until?: string;
                readonly timeZone?: string;
                readonly account?: string;
                readonly key?: string;
                readonly model?: string;
                readonly channel?: string;
                readonly group?: string;
                readonly operation?: string;
                readonly statusClass?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly by?: string;
                readonly sort?: "spend" | "requests" | "success" | "failed" | "tokens" | "input" | "cachedInput" | "output" | "reasoning" | "errorRate" | "cacheRate";
                readonly order?: "desc" | "asc";
                readonly limit?: number;
                readonly since?: string;
                readonly until?: string;
                readonly timeZone?: string;
                readonly account?: string;
                readonly key?: string;
                readonly model?: string;
                readonly channel?: string;
                readonly group?: string;
                readonly operation?: string;
                readonly statusClass?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly metric?: "spend" | "requests" | "tokens" | "errors" | "errorRate" | "cacheRate" | "ttftP50" | "ttftP95" | "latencyP50" | "latencyP95" | "throughput";
                readonly by?: string;
                readonly interval?: "auto" | "quarter" | "hour" | "day" | "week" | "month";
                readonly compare?: boolean;
                readonly limit?: number;
                readonly since?: string;
                readonly until?: string;
                readonly timeZone?: string;
                readonly account?: string;
                readonly key?: string;
                readonly model?: string;
                readonly channel?: string;
                readonly group?: string;
                readonly operation?: string;
                readonly statusClass?: string;
                readonly sort?: "spend" | "requests" | "success" | "failed" | "tokens" | "input" | "cachedInput" | "output" | "reasoning" | "errorRate" | "cacheRate";
                readonly order?: "desc" | "asc";
                readonly view?: "series" | "breakdown";
                readonly format?: "csv" | "json";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly account?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
                readonly account?: string;
                readonly timeZone?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
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
            /** @description Done */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/rss+xml": string;
                };
            };
            /** @description Nothing has changed */
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
            /** @description Done */
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
            /** @description Done */
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
                readonly account?: string;
                readonly key?: string;
                readonly days?: number;
                readonly since?: string;
                readonly until?: string;
                readonly model?: string;
                readonly group?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done */
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

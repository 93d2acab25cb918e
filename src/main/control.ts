// The control API, loaded with the first request to it: a server that only relays does not load it.

import { createCallers } from '../http/callers.ts'
import type { Control } from '../http/control/app.ts'
import type { ControlServices } from '../http/control/services.ts'
import { encryptionKey } from '../identity/encryption-key.ts'
import { findManagementKey } from '../identity/management-keys.ts'
import { createSecretBox } from '../identity/secret-box.ts'
import type { Store } from '../store/store.ts'
import { openStoreThread } from '../store/thread.ts'
import type { Log } from '../telemetry/log.ts'
import { mailerOf, webhookPurpose } from './alert-timer.ts'
import { openOrderDesk } from './payments.ts'
import type { PlayMoney } from './play-money.ts'
import type { State } from './state.ts'

interface ControlOptions {
  readonly version: string
  readonly log: Log
  readonly play: PlayMoney
  /** Rereads what this process keeps of the store: keys, settings, prices. */
  refresh(): Promise<void>
}

interface LoadedControl extends Control {
  readonly services: ControlServices
}

/** The first request waits until the control API is loaded. */
export function openControl(state: State, options: ControlOptions) {
  let loading: Promise<LoadedControl> | null = null
  return {
    async handle(request: Request, peer: string | null): Promise<Response> {
      // Tried again with the next request: a loaded server may have had no memory or files left.
      loading ??= load(state, options).catch((error: unknown) => {
        loading = null
        throw error
      })
      const control = await loading
      return control.handle(request, peer)
    },
    async close(): Promise<void> {
      const store = (await loading?.catch(() => null))?.services.store
      if (store !== undefined && store !== state.store) await store.close()
    },
  }
}

async function load(state: State, options: ControlOptions): Promise<LoadedControl> {
  const [{ createControl }, { controlRoutes }, { openSessions }, { runningOf }] = await Promise.all(
    [
      import('../http/control/app.ts'),
      import('../http/control/routes.ts'),
      import('./sign-in.ts'),
      import('./running.ts'),
    ],
  )
  const store = storeOf(state, options)
  try {
    const sessions = openSessions(state, store)
    const running = runningOf(state, store)
    const services = servicesOf(state, options, { store, sessions, running })
    return { ...createControl(services, controlRoutes), services }
  } catch (error) {
    if (store !== state.store) await store.close()
    throw error
  }
}

function servicesOf(
  state: State,
  { version, log, play, refresh }: ControlOptions,
  rooms: Pick<ControlServices, 'store' | 'sessions' | 'running'>,
): ControlServices {
  const config = () => state.current.config
  return {
    ...rooms,
    config,
    callers: () => createCallers(config().server),
    refresh,
    orders: { desk: openOrderDesk(state, rooms.store, { log, play }) },
    managementKey: (secret, nowMs) => findManagementKey(rooms.store, secret, nowMs),
    modelKey: (secret, nowMs) => state.keyring.find(secret, nowMs),
    models: (principal) =>
      state.current.front.services.modelAccess.models(principal).map(({ id }) => id),
    webhookBox: createSecretBox(encryptionKey(config()), webhookPurpose),
    callbackBox: createSecretBox(encryptionKey(config()), 'payment callback tests'),
    mail: { server: () => mailerOf(config()) },
    shareBox: createSecretBox(encryptionKey(config()), 'shared requests'),
    replyBox: createSecretBox(encryptionKey(config()), 'control replies'),
    load: state.load,
    onCrash: (error, requestId) =>
      log.error({ err: error, request_id: requestId }, 'internal error: a request failed'),
    version,
  }
}

/** Calls to PostgreSQL wait for its connection and do not block this thread, as SQLite's would. */
function storeOf(state: State, { log }: Pick<ControlOptions, 'log'>): Store {
  if (state.store.engine === 'postgres') return state.store
  return openStoreThread(state.current.config.dataDir, (error) =>
    log.error({ err: error }, 'the thread of the control API’s store died; another is started'),
  )
}

// Handles a server's signals: one press of Ctrl-C is one stop, and a closed terminal ends the server.

import { isatty } from 'node:tty'

/**
 * A terminal sends Ctrl-C to its whole process group, and npm forwards its own copy: signals this close to the first
 * are the same request to stop.
 */
const samePressMs = 1_000

/**
 * Calls `press` for the first signal, and again only for one that comes at least a second after the last that counted.
 */
export function oncePerPress(press: () => void, nowMs = () => performance.now()): () => void {
  let countedMs = Number.NEGATIVE_INFINITY
  return () => {
    const signalledMs = nowMs()
    if (signalledMs - countedMs < samePressMs) return
    countedMs = signalledMs
    press()
  }
}

/** SIGTERM and Ctrl-C stop; SIGHUP reloads a daemon, and stops a server whose terminal is closed. */
export function onSignals({ stop, reload }: { stop(): void; reload(): void }): void {
  const pressed = oncePerPress(stop)
  process.on('SIGTERM', pressed)
  process.on('SIGINT', pressed)
  process.on('SIGHUP', isInForeground() ? pressed : reload)
}

/** Whether a terminal is attached: under nohup, a supervisor or in a container no standard stream is one. */
export function isInForeground(): boolean {
  return [0, 1, 2].some((descriptor) => isatty(descriptor))
}

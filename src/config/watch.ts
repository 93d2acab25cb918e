// Takes a changed configuration file over while the server runs; a refused one leaves the old in force.

import { type FSWatcher, watch } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { ConfigError } from './problems.ts'
import type { Config } from './types.ts'

export interface WatchOptions {
  /** Absolute. */
  readonly file: string
  /** Reads the whole configuration again; throws ConfigError where it is refused. */
  readonly load: () => Promise<Config>
  readonly onConfig: (config: Config) => void
  /** The old configuration stays in force. */
  readonly onRefused: (error: ConfigError) => void
  /** The file must have been left alone for this long. */
  readonly debounceMs?: number
  /** How often the file is looked at where the system reports no change of it. */
  readonly pollMs?: number
}

export interface ConfigWatch {
  /** Loads at once, changed or not; true when the new configuration was taken over. */
  reload(): Promise<boolean>
  /** Resolves when nothing of the watch is left running. */
  close(): Promise<void>
}

/**
 * Watches the folder, not the file, so that a rename over it (editors, mounted secrets) is seen; a
 * poll covers file systems that report nothing. Only a change of content counts.
 */
export async function watchConfig(options: WatchOptions): Promise<ConfigWatch> {
  const watching = new Watching(options, await contentOf(options.file))
  watching.start()
  return watching
}

class Watching implements ConfigWatch {
  readonly #options: WatchOptions
  readonly #debounceMs: number
  #content: string | null
  #signature: string | null = null
  #settling: ReturnType<typeof setTimeout> | null = null
  #poll: ReturnType<typeof setInterval> | null = null
  #folder: FSWatcher | null = null
  #closed = false
  /** Loads run one after another. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(options: WatchOptions, content: string | null) {
    this.#options = options
    this.#debounceMs = options.debounceMs ?? 50
    this.#content = content
  }

  start(): void {
    const { file, pollMs } = this.#options
    this.#poll = setInterval(() => this.#enqueue(() => this.#look()), pollMs ?? 2_000)
    this.#poll.unref()
    try {
      this.#folder = watch(dirname(file), { persistent: false }, (_event, name) => {
        // A mounted secret is a link through `..data`, and that is what is replaced.
        if (name === null || name === basename(file) || name.startsWith('..')) this.#settle()
      })
      this.#folder.on('error', () => this.#stopFolder())
    } catch {
      // The poll sees what cannot be watched here.
      this.#stopFolder()
    }
  }

  reload(): Promise<boolean> {
    return this.#enqueue(async () => {
      this.#content = await contentOf(this.#options.file)
      return this.#load()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stopFolder()
    if (this.#poll !== null) clearInterval(this.#poll)
    if (this.#settling !== null) clearTimeout(this.#settling)
    await this.#queue
  }

  #stopFolder(): void {
    this.#folder?.close()
    this.#folder = null
  }

  #enqueue<Result>(task: () => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(task)
    this.#queue = done.catch(() => undefined)
    return done
  }

  #settle(): void {
    if (this.#closed) return
    if (this.#settling !== null) clearTimeout(this.#settling)
    this.#settling = setTimeout(() => this.#enqueue(() => this.#look()), this.#debounceMs)
    this.#settling.unref()
  }

  /** Waits until two looks see the same file, lest a half-written one is read; then compares. */
  async #look(): Promise<void> {
    const signature = await signatureOf(this.#options.file)
    if (this.#closed) return
    if (signature !== this.#signature) {
      this.#signature = signature
      this.#settle()
      return
    }
    const content = await contentOf(this.#options.file)
    if (this.#closed || content === this.#content) return
    this.#content = content
    await this.#load()
  }

  async #load(): Promise<boolean> {
    try {
      const config = await this.#options.load()
      if (this.#closed) return false
      this.#options.onConfig(config)
      return true
    } catch (error) {
      this.#options.onRefused(error instanceof ConfigError ? error : unexpected(error))
      return false
    }
  }
}

function unexpected(error: unknown): ConfigError {
  const message = error instanceof Error ? error.message : String(error)
  return new ConfigError([{ path: '', message }], null)
}

/** null while the file is not there or cannot be read: the load that follows says why. */
async function contentOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    return null
  }
}

async function signatureOf(file: string): Promise<string | null> {
  try {
    const { ino, size, mtimeMs } = await stat(file)
    return `${ino} ${size} ${mtimeMs}`
  } catch {
    return null
  }
}

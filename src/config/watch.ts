// Applies a changed configuration file while the server runs; a refused one leaves the old in force.

import { type FSWatcher, lstatSync, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { cutShort, emptied } from './cut-short.ts'
import { ConfigError, type Problem } from './problems.ts'
import { longestConfiguration, readTextFile } from './text-file.ts'
import type { Config } from './types.ts'

export interface WatchOptions {
  /** Absolute. */
  readonly file: string
  /** The file's text that is in force; left out: what it holds now. */
  readonly text?: string | undefined
  /** Files that the configuration in force takes values from: their content counts as part of it. */
  readonly sources?: readonly string[]
  /** Reads the whole configuration again; throws ConfigError where it is refused. */
  readonly load: () => Promise<Config>
  /** `again`: it could not be taken over now; the file is loaded again at the next check. */
  readonly onConfig: (config: Config) => Promise<'taken' | 'again'>
  /** Called for a refused file; the old configuration stays in force. */
  readonly onRefused: (error: ConfigError) => void
  /** How long the file must have been unchanged before it is read. */
  readonly debounceMs?: number
  /** How often the file is checked where the system reports no changes. */
  readonly pollMs?: number
}

export interface ConfigWatch {
  /** Loads at once, changed or not; true when the new configuration was applied. */
  reload(): Promise<boolean>
  /** Resolves when nothing of the watch is left running. */
  close(): Promise<void>
}

/**
 * Watches the file, and its folder where the file is a link or missing; after a rename over it (editors, deployments)
 * it watches the new file. Polling covers file systems that report no changes. Only a change of content counts.
 */
export async function watchConfig(options: WatchOptions): Promise<ConfigWatch> {
  const content = await contentOf(options.file)
  const values = await contentsOf(options.sources ?? [])
  const watching = new Watching(options, content, values)
  watching.start()
  watching.compare()
  return watching
}

const watchedPolls = 5

class Watching implements ConfigWatch {
  readonly #options: WatchOptions
  readonly #debounceMs: number
  #content: string | null
  /** The content of the configuration in force. */
  #accepted: string | null
  #sources: readonly string[]
  /** The contents of those files. */
  #values: string
  #signature: string | null = null
  #isWanted = false
  #settling: ReturnType<typeof setTimeout> | null = null
  #poll: ReturnType<typeof setInterval> | null = null
  #watcher: FSWatcher | null = null
  /** Whether the file itself is watched rather than its folder. */
  #isAlone = false
  #closed = false
  /** Makes loads run one after another. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(options: WatchOptions, content: string | null, values: string) {
    this.#sources = options.sources ?? []
    this.#values = values
    this.#options = options
    this.#debounceMs = options.debounceMs ?? 50
    this.#content = content
    this.#accepted = options.text ?? content
  }

  /** The file may have changed since the text in force was read. A pipe cannot be read again. */
  compare(): void {
    if (this.#content === null || this.#content === this.#accepted) return
    this.#content = this.#accepted
    this.#settle()
  }

  start(): void {
    const { pollMs } = this.#options
    let polls = 0
    this.#poll = setInterval(() => {
      polls += 1
      // With working notifications the file is polled only now and then: each check also wakes other threads.
      const watched = this.#watcher !== null && this.#sources.length === 0
      if (!watched || this.#isWanted || polls % watchedPolls === 0)
        void this.#enqueue(() => this.#look())
    }, pollMs ?? 2_000)
    this.#poll.unref()
    this.#watch()
  }

  /**
   * Watches the file alone where possible: other files in its folder, such as the ledger's, may be written all the
   * time.
   */
  #watch(): void {
    const { file } = this.#options
    const isAlone = isPlainFile(file)
    this.#isAlone = isAlone
    try {
      this.#watcher = watch(
        isAlone ? file : dirname(file),
        { persistent: false },
        (event, name) => {
          if (isAlone && event === 'rename') this.#watchAnew()
          // A mounted secret is a link through `..data`, and that link is replaced.
          else if (isAlone || name === null || name === basename(file) || name.startsWith('..'))
            this.#settle()
        },
      )
      this.#watcher.on('error', () => this.#stopWatching())
    } catch {
      // Polling covers what cannot be watched here.
      this.#stopWatching()
    }
  }

  /** Called when the file was renamed or replaced. */
  #watchAnew(): void {
    if (this.#closed) return
    this.#stopWatching()
    this.#watch()
    this.#settle()
  }

  reload(): Promise<boolean> {
    return this.#enqueue(async () => {
      this.#content = await contentOf(this.#options.file)
      this.#values = await contentsOf(this.#sources)
      return this.#load(emptied)
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stopWatching()
    if (this.#poll !== null) clearInterval(this.#poll)
    if (this.#settling !== null) clearTimeout(this.#settling)
    await this.#queue
  }

  #stopWatching(): void {
    this.#watcher?.close()
    this.#watcher = null
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

  /** Waits until two checks see the same file, so that no half-written one is read; then compares. */
  async #look(): Promise<void> {
    const signature = await signaturesOf([this.#options.file, ...this.#sources])
    if (this.#closed) return
    if (signature !== this.#signature) {
      this.#signature = signature
      if (this.#watcher !== null && this.#isAlone !== isPlainFile(this.#options.file)) {
        this.#watchAnew()
        return
      }
      this.#settle()
      return
    }
    const content = await contentOf(this.#options.file)
    const values = await contentsOf(this.#sources)
    const isSame = content === this.#content && values === this.#values && !this.#isWanted
    if (this.#closed || isSame) return
    this.#content = content
    this.#values = values
    await this.#load((text) => emptied(text) ?? cutShort(this.#accepted ?? '', text))
  }

  /** Where the files are the same, contents read before the load are kept: a change since is then noticed. */
  async #follow(sources: readonly string[]): Promise<void> {
    if (sources.join('\n') === this.#sources.join('\n')) return
    this.#sources = sources
    this.#values = await contentsOf(sources)
  }

  async #load(damaged: (text: string) => Problem | null): Promise<boolean> {
    const content = this.#content
    try {
      const damage = content === null ? null : damaged(content)
      if (damage !== null) throw new ConfigError([damage], this.#options.file)
      const config = await this.#options.load()
      if (this.#closed) return false
      this.#isWanted = (await this.#options.onConfig(config)) === 'again'
      if (this.#isWanted) return false
      this.#accepted = content
      await this.#follow(config.sources.filter((source) => source !== this.#options.file))
      return true
    } catch (error) {
      this.#isWanted = false
      this.#options.onRefused(error instanceof ConfigError ? error : unexpected(error))
      return false
    }
  }
}

function isPlainFile(path: string): boolean {
  try {
    return lstatSync(path).isFile()
  } catch {
    return false
  }
}

function unexpected(error: unknown): ConfigError {
  const message = error instanceof Error ? error.message : String(error)
  return new ConfigError([{ path: '', message }], null)
}

/** null while the file is missing or unreadable: the load that follows reports why. */
async function contentOf(file: string): Promise<string | null> {
  const read = await readTextFile(file, longestConfiguration)
  return 'text' in read ? read.text : null
}

async function contentsOf(files: readonly string[]): Promise<string> {
  return JSON.stringify(await Promise.all(files.map(contentOf)))
}

async function signaturesOf(files: readonly string[]): Promise<string> {
  return JSON.stringify(await Promise.all(files.map(signatureOf)))
}

async function signatureOf(file: string): Promise<string | null> {
  try {
    const { ino, size, mtimeMs } = await stat(file)
    return `${ino} ${size} ${mtimeMs}`
  } catch {
    return null
  }
}

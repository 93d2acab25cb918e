// The console's files as the latest complete build left them: only names in its list are ever opened.

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** In order of preference. */
export const encodings = ['br', 'gzip'] as const
export type Encoding = (typeof encodings)[number]

interface Listed {
  /** Hash of the uncompressed bytes. */
  readonly hash: string
  /** Compressed forms that the build wrote beside the file. */
  readonly encodings: readonly Encoding[]
}

/** One build of the console; another may replace it while this process runs. */
export interface Build {
  find(name: string): Listed | null
  /** null: another build has replaced this one. */
  read(name: string, encoding: Encoding | null): Promise<Uint8Array<ArrayBuffer> | null>
}

/** Returns a function that gives the current build; null where there is none. */
export function openBuilds(folder: string): () => Promise<Build | null> {
  const list = join(folder, 'files.json')
  let known: { readonly version: string; readonly build: Build } | null = null
  return async () => {
    const version = await versionOf(list)
    if (version === null) return null
    if (known?.version !== version) {
      const text = await textOf(list)
      if (text === null) return null
      known = { version, build: buildOf(folder, text) }
    }
    return known.build
  }
}

function buildOf(folder: string, list: string): Build {
  const { files } = JSON.parse(list) as { readonly files: Readonly<Record<string, Listed>> }
  const byName = new Map(Object.entries(files))
  return {
    find: (name) => byName.get(name) ?? null,
    read: (name, encoding) =>
      orNull(readFile(join(folder, encoding === null ? name : `${name}.${encoding}`))),
  }
}

/** null where the file does not exist. */
export function textOf(path: string): Promise<string | null> {
  return orNull(readFile(path, 'utf8'))
}

async function versionOf(path: string): Promise<string | null> {
  const found = await orNull(stat(path))
  return found === null ? null : `${found.ino} ${found.mtimeMs}`
}

async function orNull<Result>(reading: Promise<Result>): Promise<Result | null> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

// Finds recorded vendor replies beside the repository, if there are any, and identifies each.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { vendors } from '../../src/vendors/registry.ts'
import type { Vendor } from '../../src/vendors/vendor.ts'
import type { CommonDialectId } from '../../src/wire/formats.ts'
import type { JsonObject } from '../../src/wire/ir.ts'

export interface Recording {
  readonly name: string
  readonly vendor: Vendor
  readonly dialect: CommonDialectId
  /** The JSON of each frame, or of the whole body. */
  readonly frames: readonly string[]
}

/** Folder of recordings -> the vendor with whose peculiarities its replies are read. */
const folders: Readonly<Record<string, string>> = {
  alibaba: 'dashscope',
  azure: 'azure-openai',
  deepseek: 'deepseek',
  groq: 'groq',
  mistral: 'mistral',
  moonshotai: 'moonshot',
  openai: 'openai',
  'openai-compatible': 'openai-compatible',
  perplexity: 'perplexity',
  xai: 'xai',
}

/** `shared/recordings` beside the repository or beside a folder above it; null if there is none. */
export function recordingsFolder(): string | null {
  let at = resolve(import.meta.dir, '../..')
  for (;;) {
    const above = dirname(at)
    const found = join(above, 'shared/recordings')
    if (existsSync(found)) return found
    if (above === at) return null
    at = above
  }
}

/** The format of a reply by its first frame, whatever the file's name; null for other formats. */
function dialectOf(text: string | undefined): CommonDialectId | null {
  const frame: JsonObject = JSON.parse(text ?? '{}')
  if (frame.object === 'text_completion') return 'openai-completions'
  if (Array.isArray(frame.choices)) return 'openai-chat'
  return frame.object === 'list' && Array.isArray(frame.data) ? 'openai-embeddings' : null
}

function framesOf(text: string, streamed: boolean): string[] {
  return streamed ? text.split('\n').filter((line) => line.trim() !== '') : [text]
}

/** A file's vendor, if the file names another than its folder. */
function vendorOf(folder: string, file: string): Vendor {
  const id = file.includes('--azure-')
    ? 'azure-openai'
    : file.includes('--xai-')
      ? 'xai'
      : (folders[folder] ?? '')
  const vendor = vendors[id]
  if (vendor === undefined) throw new Error(`no vendor for ${folder}/${file}`)
  return vendor
}

function readFolder(root: string, folder: string, streamed: boolean): Recording[] {
  const ending = streamed ? '.chunks.txt' : '.json'
  const files = readdirSync(join(root, folder)).filter(
    (file) => file.endsWith(ending) && !file.startsWith('responses--'),
  )
  return files.flatMap((file) => {
    const frames = framesOf(readFileSync(join(root, folder, file), 'utf8'), streamed)
    const dialect = dialectOf(frames[0])
    if (dialect === null) return []
    return [{ name: `${folder}/${file}`, vendor: vendorOf(folder, file), dialect, frames }]
  })
}

export interface Recordings {
  readonly streams: readonly Recording[]
  readonly wholes: readonly Recording[]
}

/** All recordings in this project's formats; prints a message if there are none. */
export function findRecordings(): Recordings {
  const root = recordingsFolder()
  if (root === null) {
    console.log('recordings of vendors: none beside the repository, nothing to replay')
    return { streams: [], wholes: [] }
  }
  const present = Object.keys(folders).filter((folder) => existsSync(join(root, folder)))
  return {
    streams: present.flatMap((folder) => readFolder(root, folder, true)),
    wholes: present.flatMap((folder) => readFolder(root, folder, false)),
  }
}

/** The recording as the vendor's stream of bytes. */
export function streamBytes(frames: readonly string[], done: boolean, lineEnd = '\n'): Uint8Array {
  const text = frames.map((frame) => `data: ${frame}${lineEnd}${lineEnd}`).join('')
  return new TextEncoder().encode(done ? `${text}data: [DONE]${lineEnd}${lineEnd}` : text)
}

// Serves the console: its page at / and below /console, its files, and a start page until it is built.

import { pathOf } from '../request.ts'
import { type Build, type Encoding, encodings, openBuilds, textOf } from './files.ts'
import { type FirstSteps, failedPage, languageOf, startPage, startStyle } from './start-page.ts'

interface ConsoleOptions {
  /** The folder of the console's builds. */
  readonly folder: string
  /** The file that a failed build leaves, with the end of its output. */
  readonly failureFile: string
  /** Builds the first steps, with the address the client itself used. */
  readonly firstSteps: (request: Request) => FirstSteps
  /** Whether browsers reach it by https: they then never ask this host by http again (RFC 6797). */
  readonly isSecure: () => boolean
}

export interface Console {
  /** Answers GET and HEAD. `peer`: the client's address. null: the path is none of the console's. */
  handle(request: Request, peer: string | null): Promise<Response | null>
}

/** Vite puts files here whose names contain a hash of the content. */
const hashed = 'assets/'
const stylePath = 'start.css'
const types: ReadonlyMap<string, string> = new Map(
  Object.entries({
    html: 'text/html; charset=utf-8',
    js: 'text/javascript; charset=utf-8',
    css: 'text/css; charset=utf-8',
    svg: 'image/svg+xml',
    png: 'image/png',
    jpg: 'image/jpeg',
    webp: 'image/webp',
    ico: 'image/x-icon',
    woff2: 'font/woff2',
    json: 'application/json',
    webmanifest: 'application/manifest+json',
    txt: 'text/plain; charset=utf-8',
    wasm: 'application/wasm',
  }),
)
/** A path with one of these endings asks for a file, not for a page: model names may end in others. */
const fileName = new RegExp(`\\.(${[...types.keys(), 'mjs', 'map', 'ts', 'tsx'].join('|')})$`, 'i')

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "media-src 'self' blob:",
  "worker-src 'self'",
  "manifest-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ')

const guards = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

export function createConsole(options: ConsoleOptions): Console {
  const current = openBuilds(options.folder)
  return {
    async handle(request, peer) {
      const name = nameOf(pathOf(request.url))
      if (name === null) return null
      const build = await current()
      const answered =
        build === null ? unbuilt(request, peer, name, options) : answer(request, build, name)
      const reply = await answered
      if (options.isSecure()) reply?.headers.set('strict-transport-security', 'max-age=31536000')
      return reply
    },
  }
}

/**
 * The name of the file that answers; all pages of the console are one HTML file. null: the path is not the console's.
 */
function nameOf(path: string): string | null {
  const below = path === '/' || path === '/console' ? '' : decoded(path.slice('/console/'.length))
  if (below === null || below.split(/[/\\]/).some((part) => part === '..' || part === '.'))
    return null
  return below.startsWith(hashed) || fileName.test(below) ? below : 'index.html'
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}

async function answer(request: Request, build: Build, name: string): Promise<Response | null> {
  const listed = build.find(name)
  if (listed === null) return null
  const encoding = chosen(request.headers.get('accept-encoding'), listed.encodings)
  const etag = `"${listed.hash}${encoding === null ? '' : `-${encoding}`}"`
  const headers = {
    ...guards,
    'content-type': types.get(name.slice(name.lastIndexOf('.') + 1)) ?? 'application/octet-stream',
    'cache-control': name.startsWith(hashed) ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
    etag,
  }
  if (isKnown(request.headers.get('if-none-match'), etag))
    return new Response(null, { status: 304, headers })
  const bytes = await build.read(name, encoding)
  if (bytes === null) return null
  const encoded = encoding === null ? {} : { 'content-encoding': encoding }
  return new Response(bytes, { status: 200, headers: { ...headers, ...encoded } })
}

/** Compares entity tags (RFC 9110, section 13.1.2); proxies mark a tag as weak where they changed the coding. */
function isKnown(asked: string | null, etag: string): boolean {
  return asked?.split(',').some((each) => each.trim().replace(/^W\//, '') === etag) ?? false
}

/** RFC 9110, section 12.5.3: a client refuses a coding by a weight of 0. */
function chosen(accepted: string | null, made: readonly Encoding[]): Encoding | null {
  const taken = new Set<string>()
  for (const each of accepted?.toLowerCase().split(',') ?? []) {
    const [coding = '', ...parameters] = each.split(';').map((part) => part.trim())
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) taken.add(coding)
  }
  return encodings.find((each) => made.includes(each) && taken.has(each)) ?? null
}

async function unbuilt(
  request: Request,
  peer: string | null,
  name: string,
  { failureFile, firstSteps }: ConsoleOptions,
): Promise<Response | null> {
  if (name === stylePath) return shown(startStyle, types.get('css') ?? '', {})
  if (name !== 'index.html') return null
  const language = languageOf(request.headers.get('accept-language'))
  const why = await textOf(failureFile)
  const page =
    why === null
      ? startPage(language, firstSteps(request))
      : failedPage(
          language,
          firstSteps(request),
          isOnThisMachine(request.headers, peer) ? why : null,
        )
  return shown(page, types.get('html') ?? '', { vary: 'accept-language' })
}

function shown(text: string, type: string, more: Readonly<Record<string, string>>): Response {
  const headers = { ...guards, ...more, 'content-type': type, 'cache-control': 'no-store' }
  return new Response(text, { headers })
}

const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/** Requests that a proxy on this machine forwards do not count: they come from elsewhere. */
function isOnThisMachine(headers: Headers, peer: string | null): boolean {
  if (peer === null || forwarding.some((name) => headers.has(name))) return false
  return peer === '::1' || /^(::ffff:)?127\./.test(peer)
}

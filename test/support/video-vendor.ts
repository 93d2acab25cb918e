// A video vendor with OpenAI's own format, whose jobs advance when the test says so.

import type { JsonObject } from '../../src/wire/ir.ts'

export type JobStatus = 'queued' | 'in_progress' | 'completed' | 'failed'

export interface Job {
  readonly id: string
  readonly body: JsonObject
  status: JobStatus
  progress: number
  polls: number
  deleted: boolean
}

/** What the test may do as a request comes: before its answer is sent, and right after it was made. */
export interface VideoHooks {
  created?(job: Job): void | Promise<void>
  polled?(job: Job): void | Promise<void>
  /** In place of the usual answer. */
  poll?(job: Job, request: Request): Response | undefined | Promise<Response | undefined>
  create?(request: Request): Response | undefined | Promise<Response | undefined>
  remove?(job: Job): Response | undefined
  content?(job: Job, request: Request): Response | Promise<Response>
}

export interface VideoVendor extends AsyncDisposable {
  /** The base address. */
  readonly url: string
  readonly port: number
  readonly jobs: readonly Job[]
  hooks: VideoHooks
  /** The state of new jobs. */
  first: JobStatus
  /** In milliseconds, for the header of its answers; null: no header. */
  hintMs: number | null
  job(at: number): Job
  stop(): Promise<void>
}

export const film = new TextEncoder().encode('not really a film, but as long as some: '.repeat(40))

export function startVideoVendor(): VideoVendor {
  const jobs: Job[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: (request) => answer(vendor, jobs, request),
  })
  const vendor: VideoVendor = {
    url: `http://127.0.0.1:${server.port}/v1`,
    port: server.port ?? 0,
    jobs,
    hooks: {},
    first: 'queued',
    hintMs: 50,
    job(at) {
      const job = jobs.at(at)
      if (job === undefined) throw new Error(`no job ${at}`)
      return job
    },
    stop: () => server.stop(true),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
  return vendor
}

async function answer(vendor: VideoVendor, jobs: Job[], request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  const [, , , id = '', what = ''] = pathname.split('/')
  if (id === '') return create(vendor, jobs, request, await bodyOf(request))
  const job = jobs.find((each) => each.id === id && !each.deleted)
  if (job === undefined)
    return Response.json({ error: { message: 'no such video', code: null } }, { status: 404 })
  if (what === 'remix')
    return create(vendor, jobs, request, { ...job.body, ...(await bodyOf(request)) })
  if (what === 'content') return (await vendor.hooks.content?.(job, request)) ?? contentOf(request)
  if (request.method === 'DELETE') {
    const refusal = vendor.hooks.remove?.(job)
    if (refusal !== undefined) return refusal
    job.deleted = true
    return Response.json({ id, object: 'video.deleted', deleted: true })
  }
  job.polls += 1
  const other = await vendor.hooks.poll?.(job, request)
  if (other !== undefined) return other
  const reply = shown(vendor, job)
  await vendor.hooks.polled?.(job)
  return reply
}

async function create(
  vendor: VideoVendor,
  jobs: Job[],
  request: Request,
  body: JsonObject,
): Promise<Response> {
  const other = await vendor.hooks.create?.(request)
  if (other !== undefined) return other
  const id = `video_vendor_${jobs.length}`
  const job: Job = { id, body, status: vendor.first, progress: 0, polls: 0, deleted: false }
  jobs.push(job)
  const reply = shown(vendor, job)
  await vendor.hooks.created?.(job)
  return reply
}

/** Also for a form, only its texts. */
async function bodyOf(request: Request): Promise<JsonObject> {
  const type = request.headers.get('content-type') ?? ''
  if (type.startsWith('application/json')) return (await request.json()) as JsonObject
  const found: JsonObject = {}
  for (const [name, value] of await request.formData())
    found[name] = typeof value === 'string' ? value : { file: value.name, size: value.size }
  return found
}

function shown({ hintMs }: VideoVendor, job: Job): Response {
  const { id, body, status, progress } = job
  const video = {
    id,
    object: 'video',
    model: body['model'] ?? null,
    status,
    progress,
    created_at: 1_763_700_000,
    completed_at: status === 'completed' ? 1_763_700_100 : null,
    expires_at: status === 'completed' ? 1_763_786_500 : null,
    size: body['size'] ?? null,
    seconds: body['seconds'] ?? null,
    error: status === 'failed' ? { code: 'moderation_blocked', message: 'not this one' } : null,
  }
  const headers = hintMs === null ? {} : { 'openai-poll-after-ms': String(hintMs) }
  return Response.json(video, { headers })
}

function contentOf(request: Request): Response {
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get('range') ?? '')
  const type = new URL(request.url).searchParams.has('variant') ? 'image/webp' : 'video/mp4'
  if (range === null) return new Response(film, { headers: { 'content-type': type } })
  const [start, end] = [Number(range[1]), Number(range[2])]
  return new Response(film.slice(start, end + 1), {
    status: 206,
    headers: { 'content-type': type, 'content-range': `bytes ${start}-${end}/${film.length}` },
  })
}

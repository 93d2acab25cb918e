// How video vendors are asked for their jobs, by their own documentation.

import type { JsonObject } from '../../../src/wire/ir.ts'
import { given } from './made.ts'
import { type Asked, film, only, Refused, type Service, signed, vendorKey } from './server.ts'

/** A job as its vendor keeps it: done when it is queried for a second time. */
interface Job {
  looks: number
  readonly fails: boolean
  /** `720x1280x4`: size and seconds. */
  readonly film: string
}

class Jobs {
  private readonly all: Job[] = []

  begin(prompt: unknown, film: string): number {
    return this.all.push({ looks: 0, fails: String(prompt).includes('fail'), film }) - 1
  }

  /** null while it is made. */
  look(id: string): Job | null {
    const job = this.all[Number(id)]
    if (job === undefined) throw new Refused('no such job', 404)
    job.looks += 1
    return job.looks < 2 ? null : job
  }
}

const lines: Readonly<Record<string, string>> = {
  '16:9 720': '1280x720',
  '9:16 720': '720x1280',
  '16:9 768': '1366x768',
}

function sized(ratio: unknown, resolution: unknown): string {
  const size = lines[`${String(ratio)} ${String(resolution).toLowerCase().replace('p', '')}`]
  if (size === undefined) throw new Refused(`no ${String(ratio)} in ${String(resolution)}`)
  return size
}

function inline(value: unknown): void {
  const base64 = String(value).replace(/^data:image\/png;base64,/, '')
  if (!given.equals(Buffer.from(base64, 'base64'))) throw new Refused('the image is damaged')
}

const reason = 'Not this one.'

/** Google, "Generate videos with Veo": an operation, and a file that needs the key. */
export function veoVideos(): Service {
  const jobs = new Jobs()
  return async (asked) => {
    signed(asked, 'x-goog-api-key')
    const [, , what = '', name = '', ...rest] = asked.path.split('/')
    if (what === 'files') return film(name)
    const model = 'veo-3.1-generate-preview'
    if (name === `${model}:predictLongRunning`) {
      const { instances, parameters } = (await asked.json()) as Record<string, JsonObject>
      const [instance] = instances as unknown as JsonObject[]
      const { aspectRatio, durationSeconds, resolution } = parameters ?? {}
      const { prompt, image } = instance ?? {}
      if (image !== undefined) inline((image as JsonObject)['bytesBase64Encoded'])
      const id = jobs.begin(prompt, `${sized(aspectRatio, resolution)}x${durationSeconds}`)
      return Response.json({ name: `models/${model}/operations/${id}` })
    }
    if (name !== model || rest[0] !== 'operations') throw new Refused('no such path', 404)
    const job = jobs.look(rest[1] ?? '')
    if (job === null) return Response.json({ done: false })
    if (job.fails) return Response.json({ done: true, error: { code: 3, message: reason } })
    const uri = `${asked.place}/v1beta/files/${job.film}`
    const generateVideoResponse = { generatedSamples: [{ video: { uri } }] }
    return Response.json({ done: true, response: { generateVideoResponse } })
  }
}

/** xAI, "Video generation". */
export function xaiVideos(): Service {
  const jobs = new Jobs()
  return async (asked) => {
    signed(asked, 'authorization', 'Bearer ')
    if (asked.path === '/v1/videos/generations') {
      const body = await asked.json()
      const { prompt, duration, aspect_ratio, resolution, image } = body
      only(Object.keys(body), 'model', 'prompt', 'duration', 'aspect_ratio', 'resolution', 'image')
      if (image !== undefined) inline((image as JsonObject)['url'])
      const id = jobs.begin(prompt, `${sized(aspect_ratio, resolution)}x${duration}`)
      return Response.json({ request_id: String(id) })
    }
    const job = jobs.look(asked.path.replace('/v1/videos/', ''))
    if (job === null) return new Response(null, { status: 202 })
    if (job.fails)
      return Response.json({ status: 'failed', error: { code: 'no', message: reason } })
    const url = `${asked.place}/films/${job.film}`
    return Response.json({ status: 'done', video: { url, respect_moderation: true } })
  }
}

/** Kling, "Text to video" and "Image to video"; a key without a colon signs by itself. */
export function klingVideos(): Service {
  const jobs = new Jobs()
  return async (asked) => {
    if (asked.headers.get('authorization') !== `Bearer ${vendorKey}`) throw new Refused('key', 401)
    const data = await klingTask(jobs, asked)
    return Response.json({ code: 0, message: 'SUCCEED', data })
  }
}

async function klingTask(jobs: Jobs, asked: Asked): Promise<JsonObject> {
  const [, , , kind = '', id] = asked.path.split('/')
  if (kind !== 'text2video' && kind !== 'image2video') throw new Refused('no such path', 404)
  if (id === undefined) {
    const body = await asked.json()
    const shape = kind === 'text2video' ? 'aspect_ratio' : 'image'
    only(Object.keys(body), 'model_name', 'prompt', 'duration', 'mode', shape)
    if (kind === 'image2video') inline(body['image'])
    // A video made from an image has the image's shape.
    const size = kind === 'text2video' ? sized(body['aspect_ratio'], 720) : '720x1280'
    const task = jobs.begin(body['prompt'], `${size}x${body['duration']}`)
    return { task_id: String(task), task_status: 'submitted' }
  }
  const job = jobs.look(id)
  if (job === null) return { task_id: id, task_status: 'processing' }
  if (job.fails) return { task_id: id, task_status: 'failed', task_status_msg: reason }
  const url = `${asked.place}/films/${job.film}`
  const videos = [{ id: 'v', url, duration: job.film.split('x')[2] ?? '' }]
  return { task_id: id, task_status: 'succeed', task_result: { videos } }
}

/** MiniMax, "Video generation": a task, a file, an address. */
export function minimaxVideos(): Service {
  const jobs = new Jobs()
  const ok = { base_resp: { status_code: 0, status_msg: 'success' } }
  return async (asked) => {
    signed(asked, 'authorization', 'Bearer ')
    if (asked.path === '/v1/video_generation') {
      const body = await asked.json()
      only(Object.keys(body), 'model', 'prompt', 'duration', 'resolution', 'first_frame_image')
      const { prompt, duration, resolution, first_frame_image: image } = body
      if (image !== undefined) inline(image)
      const id = jobs.begin(prompt, `${sized('16:9', resolution)}x${duration}`)
      return Response.json({ task_id: String(id), ...ok })
    }
    if (asked.path === '/v1/files/retrieve') {
      const download_url = `${asked.place}/films/${asked.query.get('file_id')}`
      return Response.json({ file: { download_url }, ...ok })
    }
    if (asked.path !== '/v1/query/video_generation') throw new Refused('no such path', 404)
    const job = jobs.look(asked.query.get('task_id') ?? '')
    if (job === null) return Response.json({ status: 'Processing', ...ok })
    if (job.fails) return Response.json({ status: 'Fail', ...ok })
    return Response.json({ status: 'Success', file_id: job.film, ...ok })
  }
}

/** Model Studio, "Wan video generation": a task of the native interface. */
export function wanVideos(): Service {
  const jobs = new Jobs()
  return async (asked) => {
    signed(asked, 'authorization', 'Bearer ')
    if (asked.path === '/api/v1/services/aigc/video-generation/video-synthesis') {
      if (asked.headers.get('x-dashscope-async') !== 'enable') throw new Refused('not async')
      const { input = {}, parameters = {} } = (await asked.json()) as Record<string, JsonObject>
      only(Object.keys(input), 'prompt', 'media')
      only(Object.keys(parameters), 'resolution', 'ratio', 'duration', 'watermark')
      for (const { url } of (input['media'] ?? []) as JsonObject[]) inline(url)
      const { ratio, resolution, duration } = parameters
      const id = jobs.begin(input['prompt'], `${sized(ratio, resolution)}x${duration}`)
      return Response.json({ output: { task_id: String(id), task_status: 'PENDING' } })
    }
    if (!asked.path.startsWith('/api/v1/tasks/')) throw new Refused('no such path', 404)
    const job = jobs.look(asked.path.slice('/api/v1/tasks/'.length))
    if (job === null) return Response.json({ output: { task_status: 'RUNNING' } })
    const failed = { task_status: 'FAILED', code: 'InternalError', message: reason }
    if (job.fails) return Response.json({ output: failed })
    const video_url = `${asked.place}/films/${job.film}`
    return Response.json({ output: { task_status: 'SUCCEEDED', video_url } })
  }
}

/** fal, "Queue API". */
export function falVideos(): Service {
  const jobs = new Jobs()
  const done = new Map<string, Job>()
  return async (asked) => {
    signed(asked, 'authorization', 'Key ')
    if (asked.method === 'POST') {
      const body = await asked.json()
      only(Object.keys(body), 'prompt', 'duration', 'aspect_ratio', 'resolution', 'image_url')
      const { prompt, duration, aspect_ratio, resolution, image_url: image } = body
      if (image !== undefined) inline(image)
      const seconds = String(duration).replace(/s$/, '')
      const id = jobs.begin(prompt, `${sized(aspect_ratio, resolution)}x${seconds}`)
      const response_url = `${asked.place}/requests/${id}`
      const status_url = `${response_url}/status`
      return Response.json({ request_id: String(id), status_url, response_url })
    }
    const [, , id = '', state] = asked.path.split('/')
    if (state === 'status') {
      const job = jobs.look(id)
      if (job !== null) done.set(id, job)
      return Response.json({ status: job === null ? 'IN_PROGRESS' : 'COMPLETED' })
    }
    const job = done.get(id)
    if (job === undefined) throw new Refused('no such request', 404)
    if (job.fails) return Response.json({ detail: reason }, { status: 422 })
    return Response.json({ video: { url: `${asked.place}/films/${job.film}` } })
  }
}

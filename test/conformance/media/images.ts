// How vendors are asked for images, by their own documentation: other requests are refused, as the vendors would.

import type { JsonObject, JsonValue } from '../../../src/wire/ir.ts'
import { given, mask, pictureOf } from './made.ts'
import { type Asked, events, fileIn, oneOf, only, Refused, type Service, signed } from './server.ts'

const usage = {
  input_tokens: 20,
  input_tokens_details: { text_tokens: 8, image_tokens: 12 },
  output_tokens: 400,
  total_tokens: 420,
}

function sized(size: string): Buffer {
  const [width = 0, height = 0] = size.split('x').map(Number)
  if (!(width > 0 && height > 0)) throw new Refused(`no size: ${size}`)
  return pictureOf(width, height)
}

const byRatio: Readonly<Record<string, string>> = {
  '1:1': '1024x1024',
  '3:2': '1248x832',
  '16:9': '1344x768',
  '9:16': '768x1344',
}

function shaped(ratio: unknown): string {
  const size = byRatio[typeof ratio === 'string' ? ratio : '1:1']
  if (size === undefined) throw new Refused(`no ratio: ${String(ratio)}`)
  return size
}

function same(bytes: Uint8Array, expected: Uint8Array, name: string): void {
  if (!Buffer.from(bytes).equals(Buffer.from(expected))) throw new Refused(`${name} is damaged`)
}

/** An image as base64, or in a `data:` address. */
function inline(value: unknown, expected: Uint8Array, name: string): void {
  if (typeof value !== 'string') throw new Refused(`${name} is no text`)
  const base64 = value.replace(/^data:image\/png;base64,/, '')
  same(Buffer.from(base64, 'base64'), expected, name)
}

interface OpenaiModel {
  /** Answers only with base64, and does not accept the parameter for the form. */
  readonly gpt: boolean
  readonly sizes: readonly string[]
  readonly qualities: readonly string[]
  readonly edits: boolean
  readonly varies: boolean
  readonly most: number
}

const gptImage: OpenaiModel = {
  gpt: true,
  sizes: ['1024x1024', '1536x1024', '1024x1536', 'auto'],
  qualities: ['low', 'medium', 'high', 'auto'],
  edits: true,
  varies: false,
  most: 10,
}
const dallE3: OpenaiModel = {
  gpt: false,
  sizes: ['1024x1024', '1792x1024', '1024x1792'],
  qualities: ['standard', 'hd'],
  edits: false,
  varies: false,
  most: 1,
}
const dallE2: OpenaiModel = {
  gpt: false,
  sizes: ['256x256', '512x512', '1024x1024'],
  qualities: ['standard'],
  edits: true,
  varies: true,
  most: 10,
}

function openaiModel(name: string): OpenaiModel {
  const found = { 'gpt-image-1': gptImage, 'dall-e-3': dallE3, 'dall-e-2': dallE2 }[name]
  if (found === undefined) throw new Refused(`no model ${name}`, 404)
  return found
}

/** OpenAI API reference, "Images". */
async function openai(asked: Asked, modelOf: (name: string) => OpenaiModel): Promise<Response> {
  const { path } = asked
  if (path.endsWith('/images/generations')) {
    const body = await asked.json()
    return drawn(body, modelOf(String(body['model'])), 'image_generation', asked)
  }
  const form = await asked.form()
  const model = modelOf(String(form.get('model')))
  const images = [...form.keys()].filter((name) => name === 'image' || name === 'image[]')
  for (const name of images) same(await fileIn(form, name), given, name)
  if (form.has('mask')) same(await fileIn(form, 'mask'), mask, 'mask')
  const edits = path.endsWith('/images/edits')
  if (edits ? !model.edits : !model.varies || !path.endsWith('/images/variations'))
    throw new Refused(`no ${path} with this model`)
  if (images.length === 0 || (!model.gpt && images.length > 1)) throw new Refused('one image')
  const body: Record<string, JsonValue> = {}
  for (const [name, value] of form)
    if (typeof value === 'string') body[name] = name === 'stream' ? value === 'true' : value
  return drawn(body, model, 'image_edit', asked)
}

function drawn(body: JsonObject, model: OpenaiModel, event: string, asked: Asked): Response {
  const common = ['model', 'prompt', 'n', 'size', 'quality', 'user']
  if (model.gpt) {
    const more = ['background', 'output_format', 'moderation', 'stream', 'partial_images']
    only(Object.keys(body), ...common, ...more)
  } else only(Object.keys(body), ...common, 'response_format', 'style')
  oneOf(body['quality'], 'quality', model.qualities, model.qualities[0] ?? '')
  const usual = model.gpt ? '1024x1024' : (model.sizes.at(0) ?? '')
  const size = oneOf(body['size'], 'size', model.sizes, usual)
  const count = Number(body['n'] ?? 1)
  if (count > model.most) throw new Refused('n is too large')
  const b64_json = sized(size).toString('base64')
  const said = { size, quality: 'high', background: 'opaque', output_format: 'png' }
  if (body['stream'] === true)
    return streamed(event, b64_json, said, Number(body['partial_images']))
  const url = `${asked.place}/results/${size}`
  const byUrl = !model.gpt && (body['response_format'] ?? 'url') === 'url'
  const data = Array.from({ length: count }, () => (byUrl ? { url } : { b64_json }))
  return Response.json({ created: 1, data, ...(model.gpt && { ...said, usage }) })
}

function streamed(name: string, b64_json: string, said: JsonObject, partials: number): Response {
  const each = { b64_json, created_at: 1, ...said }
  const parts = Array.from({ length: partials || 0 }, (_, partial_image_index) => ({
    type: `${name}.partial_image`,
    ...each,
    partial_image_index,
  }))
  return events([...parts, { type: `${name}.completed`, ...each, usage }], true)
}

export const openaiImages: Service = async (asked) => {
  signed(asked, 'authorization', 'Bearer ')
  return openai(asked, openaiModel)
}

/** Deployments, with names that the operator chooses. */
export const azureImages: Service = async (asked) => {
  signed(asked, 'api-key')
  if (!asked.path.startsWith('/openai/v1/')) throw new Refused('no such path', 404)
  return openai(asked, openaiModel)
}

/** A server that implements OpenAI's older form. */
export const ownImages: Service = async (asked) => {
  signed(asked, 'authorization', 'Bearer ')
  const any = { ...dallE2, sizes: ['1024x1024', '1536x1024'] }
  return openai(asked, () => any)
}

/** xAI, "Image generations" and "Image edits". */
export const xaiImages: Service = async (asked) => {
  signed(asked, 'authorization', 'Bearer ')
  const body = await asked.json()
  const edits = asked.path === '/v1/images/edits'
  if (!edits && asked.path !== '/v1/images/generations') throw new Refused('no such path', 404)
  const common = ['model', 'prompt', 'n', 'response_format', 'aspect_ratio', 'resolution']
  only(Object.keys(body), ...common, ...(edits ? ['image', 'images'] : ['quality']))
  if (edits) {
    const { image, images = [image] } = body as { image?: JsonObject; images?: JsonObject[] }
    for (const each of images) inline(each?.['url'], given, 'image')
  }
  const size = shaped(body['aspect_ratio'])
  const byUrl = body['response_format'] !== 'b64_json'
  const image = byUrl
    ? { url: `${asked.place}/results/${size}` }
    : { b64_json: sized(size).toString('base64') }
  const data = Array.from({ length: Number(body['n'] ?? 1) }, () => image)
  return Response.json({ data, usage: { cost_in_usd_ticks: 200_000_000 } })
}

/** Google, "Image generation with Gemini". */
export const geminiImages: Service = async (asked) => {
  signed(asked, 'x-goog-api-key')
  if (!asked.path.endsWith(':generateContent')) throw new Refused('no such path', 404)
  const body = await asked.json()
  only(Object.keys(body), 'contents', 'generationConfig')
  const { contents, generationConfig } = body as Record<string, JsonObject | JsonObject[]>
  const config = generationConfig as JsonObject
  only(Object.keys(config), 'responseModalities', 'imageConfig', 'seed')
  const shape = (config['imageConfig'] ?? {}) as JsonObject
  only(Object.keys(shape), 'aspectRatio', 'imageSize')
  const parts = (contents as JsonObject[])[0]?.['parts'] as JsonObject[]
  const images = parts.flatMap(({ inlineData }) => inlineData ?? []) as JsonObject[]
  for (const each of images) inline(each['data'], given, 'inlineData')
  const [width = 0, height = 0] = shaped(shape['aspectRatio']).split('x').map(Number)
  const times = Number(oneOf(shape['imageSize'], 'imageSize', ['1K', '2K', '4K'], '1K')[0])
  const data = sized(`${width * times}x${height * times}`).toString('base64')
  const [prompt, made] = [8 + 258 * images.length, 1_290]
  return Response.json({
    candidates: [
      {
        content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data } }] },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: {
      promptTokenCount: prompt,
      candidatesTokenCount: made,
      totalTokenCount: prompt + made,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: made }],
    },
  })
}

/** Stability, REST API v2beta. */
export const stabilityImages: Service = async (asked) => {
  signed(asked, 'authorization', 'Bearer ')
  const form = await asked.form()
  if (asked.headers.get('accept') !== 'application/json') throw new Refused('accept')
  const common = ['prompt', 'output_format', 'seed']
  const inpaints = asked.path === '/v2beta/stable-image/edit/inpaint'
  if (inpaints) {
    only(form.keys(), ...common, 'image', 'mask')
    same(await fileIn(form, 'mask'), mask, 'mask')
  } else if (/^\/v2beta\/stable-image\/generate\/(core|ultra|sd3)$/.test(asked.path)) {
    const varies = asked.path.endsWith('core') ? [] : ['image', 'strength', 'mode']
    only(form.keys(), ...common, 'aspect_ratio', 'model', ...varies)
  } else throw new Refused('no such path', 404)
  if (form.has('image')) same(await fileIn(form, 'image'), given, 'image')
  const image = sized(shaped(form.get('aspect_ratio') ?? '1:1')).toString('base64')
  return Response.json({ image, finish_reason: 'SUCCESS', seed: 1 })
}

/** Black Forest Labs: jobs, each with a separate address. */
export function bflImages(): Service {
  const jobs = new Map<string, { looks: number; readonly size: string }>()
  return async (asked) => {
    signed(asked, 'x-key')
    if (asked.method === 'POST') {
      const body = await asked.json()
      const model = asked.path.slice('/v1/'.length)
      const inputs = Object.keys(body).filter((name) => name.startsWith('input_image'))
      for (const name of inputs) inline(body[name], given, name)
      const shape = model.startsWith('flux-kontext') ? ['aspect_ratio'] : ['width', 'height']
      const edits = model === 'flux-dev' || model === 'flux-pro-1.1' ? [] : inputs
      only(Object.keys(body), 'prompt', 'seed', 'output_format', ...shape, ...edits)
      const { width, height, aspect_ratio } = body
      const size = width === undefined ? shaped(aspect_ratio) : `${width}x${height}`
      const id = `job-${jobs.size}`
      jobs.set(id, { looks: 0, size })
      return Response.json({ id, polling_url: `${asked.place}/v1/get_result?id=${id}` })
    }
    const job = jobs.get(asked.query.get('id') ?? '')
    if (job === undefined) return Response.json({ status: 'Task not found' })
    if (job.looks++ === 0) return Response.json({ status: 'Pending', result: null })
    const sample = `${asked.place}/results/${job.size}`
    return Response.json({ status: 'Ready', result: { sample, seed: 1 } })
  }
}

/** fal: a queue, with addresses for the state and the result. */
export function falImages(): Service {
  const jobs: { readonly body: JsonObject }[] = []
  return async (asked) => {
    signed(asked, 'authorization', 'Key ')
    if (asked.method === 'POST') {
      const body = await asked.json()
      const { image_urls, image_url } = body as { image_urls?: string[]; image_url?: string }
      for (const each of image_urls ?? []) inline(each, given, 'image_urls')
      const shape = asked.path.includes('nano-banana')
        ? ['aspect_ratio', 'resolution', 'image_urls']
        : ['image_size']
      only(Object.keys(body), 'prompt', 'num_images', 'seed', 'output_format', ...shape)
      if (image_url !== undefined) inline(image_url, given, 'image_url')
      const place = `${asked.place}/requests/${jobs.length}`
      jobs.push({ body })
      const [status_url, response_url] = [`${place}/status`, place]
      return Response.json({ request_id: 'r', status: 'IN_QUEUE', status_url, response_url })
    }
    const [, , id = '', state] = asked.path.split('/')
    const job = jobs[Number(id)]
    if (job === undefined) throw new Refused('no such request', 404)
    if (state === 'status') return Response.json({ status: 'COMPLETED' })
    const { image_size, aspect_ratio, num_images } = job.body
    const area = image_size as JsonObject | undefined
    const size = area === undefined ? shaped(aspect_ratio) : `${area['width']}x${area['height']}`
    const images = Array.from({ length: Number(num_images) }, () => ({
      url: `${asked.place}/results/${size}`,
      content_type: 'image/png',
    }))
    return Response.json({ images, seed: 1 })
  }
}

/** Model Studio: Qwen-Image in one reply, Wan as a task. */
export function dashscopeImages(): Service {
  const tasks: { readonly size: string; readonly count: number }[] = []
  return async (asked) => {
    signed(asked, 'authorization', 'Bearer ')
    const known = ['size', 'n', 'seed', 'watermark']
    if (asked.path.startsWith('/api/v1/tasks/')) {
      const task = tasks[Number(asked.path.slice('/api/v1/tasks/'.length))]
      if (task === undefined) throw new Refused('no such task', 404)
      const result = { url: `${asked.place}/results/${task.size}` }
      const results = Array.from({ length: task.count }, () => result)
      return Response.json({ output: { task_status: 'SUCCEEDED', results } })
    }
    const { parameters, input } = (await asked.json()) as Record<string, JsonObject>
    only(Object.keys(parameters ?? {}), ...known)
    const size = String(parameters?.['size'] ?? '1024*1024').replace('*', 'x')
    const count = Number(parameters?.['n'] ?? 1)
    if (asked.path === '/api/v1/services/aigc/text2image/image-synthesis') {
      if (asked.headers.get('x-dashscope-async') !== 'enable') throw new Refused('not async')
      tasks.push({ size, count })
      return Response.json({
        output: { task_id: String(tasks.length - 1), task_status: 'PENDING' },
      })
    }
    if (asked.path !== '/api/v1/services/aigc/multimodal-generation/generation')
      throw new Refused('no such path', 404)
    const [message] = (input?.['messages'] ?? []) as JsonObject[]
    for (const { image } of message?.['content'] as JsonObject[])
      if (image !== undefined) inline(image, given, 'image')
    const image = { image: `${asked.place}/results/${size}` }
    const content = Array.from({ length: count }, () => image)
    const choices = [{ message: { role: 'assistant', content }, finish_reason: 'stop' }]
    return Response.json({ output: { choices } })
  }
}

// Vendors with a form of their own for images: what each is asked, and what is made of its answers.

import { describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import type { ImagesReply, Upload } from '../../src/vendors/media.ts'
import { vendors } from '../../src/vendors/registry.ts'
import type { JsonObject } from '../../src/wire/ir.ts'
import {
  type Answer,
  type Heard,
  mediaCall,
  type PlayedTools,
  playedTools,
  upload,
} from '../support/media-tools.ts'
import { png } from '../support/samples.ts'

const picture = png(64, 64)
const b64 = picture.toString('base64')

async function served(
  vendor: string,
  model: string,
  played: PlayedTools,
  fields: JsonObject,
  uploads: readonly Upload[] = [],
  dialect: 'openai-images' | 'openai-image-edits' = uploads.length > 0
    ? 'openai-image-edits'
    : 'openai-images',
): Promise<ImagesReply> {
  const adapter = vendors[vendor]?.adapters?.[dialect]
  const call = mediaCall(dialect, model, { prompt: 'a cat', ...fields }, uploads)
  const reply = await adapter?.serve(call, played.tools)
  if (reply?.kind !== 'images') throw new Error('these are no images')
  return reply
}

function play(vendor: string, answer: (heard: Heard, count: number) => Answer, baseUrl?: string) {
  return playedTools(vendor, { answer, ...(baseUrl !== undefined && { baseUrl }) })
}

function bytesOf({ images }: ImagesReply): (Buffer | null)[] {
  return images.map(({ payload }) =>
    payload === undefined ? null : Buffer.from(payload.read(0, payload.size)),
  )
}

const refused = (message: RegExp) => ({
  fault: {
    kind: 'rejected',
    code: 'content_policy_violation',
    message: expect.stringMatching(message),
  },
})

describe('Gemini', () => {
  const usageMetadata = {
    promptTokenCount: 8,
    candidatesTokenCount: 1_290,
    thoughtsTokenCount: 5,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 8 }],
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
  }
  const inlineData = { mimeType: 'image/png', data: b64 }
  const drawn = {
    candidates: [
      {
        content: {
          parts: [
            { thought: true, inlineData: { mimeType: 'image/png', data: 'AAAA' } },
            { text: 'Here it is.' },
            { inlineData },
          ],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata,
  }

  test('one call an image, shapes by ratio and class; sketches are left out, usage is summed', async () => {
    const played = play('google', () => ({ json: drawn }))
    const reply = await served('google', 'gemini-3-pro-image', played, { n: 2, size: '2752x1536' })
    expect(played.heard.map(({ path }) => path)).toEqual([
      '/v1beta/models/gemini-3-pro-image:generateContent',
      '/v1beta/models/gemini-3-pro-image:generateContent',
    ])
    expect(played.heard[0]?.json).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'a cat' }] }],
      generationConfig: {
        responseModalities: ['IMAGE'],
        imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
      },
    })
    expect(bytesOf(reply).map((bytes) => bytes?.equals(picture))).toEqual([true, true])
    expect(reply.usage).toEqual({
      input_tokens: 16,
      input_tokens_details: { text_tokens: 16, image_tokens: 0 },
      output_tokens: 2_590,
      output_tokens_details: { text_tokens: 0, image_tokens: 2_580, reasoning_tokens: 10 },
      total_tokens: 2_606,
    })
  })

  test.each([
    ['gemini-2.5-flash-image', '1024x1024', { aspectRatio: '1:1' }],
    ['gemini-2.5-flash-image', '1536x1024', { aspectRatio: '3:2' }],
    ['gemini-3-pro-image', '4096x4096', { aspectRatio: '1:1', imageSize: '4K' }],
    ['gemini-3.1-flash-image', '512x2048', { aspectRatio: '1:4' }],
  ])('%s in %s', async (model, size, imageConfig) => {
    const played = play('google', () => ({ json: drawn }))
    await served('google', model, played, { size })
    expect(played.heard[0]?.json['generationConfig']).toMatchObject({ imageConfig })
  })

  test('images given stand before the prompt, from files, from addresses and in them', async () => {
    const given = { inlineData }
    const played = play('google', () => ({ json: drawn }))
    await served('google', 'gemini-2.5-flash-image', played, {}, [upload('image', picture)])
    const parts = [given, { text: 'a cat' }]
    expect(played.heard[0]?.json['contents']).toEqual([{ role: 'user', parts }])
    const images = [{ image_url: `data:image/png;base64,${b64}` }, { image_url: 'https://a.b/c' }]
    const fetching = playedTools('google', {
      answer: () => ({ json: drawn }),
      fetched: () => upload('image', picture).payload,
    })
    const edits = 'openai-image-edits'
    await served('google', 'gemini-2.5-flash-image', fetching, { images }, [], edits)
    expect(fetching.fetched).toEqual(['https://a.b/c'])
    expect(fetching.heard[0]?.json['contents']).toEqual([
      { role: 'user', parts: [given, given, { text: 'a cat' }] },
    ])
  })

  test.each([
    ['a mask', {}, [upload('image', picture), upload('mask', picture)], 'mask'],
    ['another shape', { size: '1024x400' }, [], 'size'],
    ['2K of a model of 1K', { size: '2048x2048' }, [], 'size'],
    ['a transparent background', { background: 'transparent' }, [], 'background'],
  ])('%s is refused', async (_what, fields, uploads, param) => {
    const played = play('google', () => ({ json: drawn }))
    const failure = served('google', 'gemini-2.5-flash-image', played, fields, uploads)
    await expect(failure).rejects.toMatchObject({ detail: { param } })
    expect(played.heard).toEqual([])
  })

  test('an image behind an address that cannot be had is the client’s mistake', async () => {
    const images = [{ image_url: 'https://a.b/c' }]
    const played = play('google', () => ({ json: drawn }))
    const edits = 'openai-image-edits'
    await expect(
      served('google', 'gemini-2.5-flash-image', played, { images }, [], edits),
    ).rejects.toMatchObject({ detail: { param: 'images[0].image_url' } })
  })

  test('what is blocked is refused, what is no image has failed', async () => {
    const model = 'gemini-2.5-flash-image'
    const blocked = { promptFeedback: { blockReason: 'SAFETY' } }
    await expect(
      served(
        'google',
        model,
        play('google', () => ({ json: blocked })),
        {},
      ),
    ).rejects.toMatchObject(refused(/blocked/))
    const stopped = { candidates: [{ finishReason: 'IMAGE_SAFETY' }] }
    await expect(
      served(
        'google',
        model,
        play('google', () => ({ json: stopped })),
        {},
      ),
    ).rejects.toMatchObject(refused(/IMAGE_SAFETY/))
    const talk = { candidates: [{ content: { parts: [{ text: 'No.' }] }, finishReason: 'STOP' }] }
    await expect(
      served(
        'google',
        model,
        play('google', () => ({ json: talk })),
        {},
      ),
    ).rejects.toMatchObject({ fault: { kind: 'vendor_error' } })
  })

  test('on Vertex below the project, signed', async () => {
    const played = play('vertex', () => ({ json: drawn }))
    await served('vertex', 'gemini-2.5-flash-image', played, {})
    expect(played.heard[0]).toMatchObject({ signed: true, method: 'POST' })
    expect(played.heard[0]?.path).toEndWith('gemini-2.5-flash-image:generateContent')
  })
})

describe('xAI', () => {
  test('base64 in shapes; its own units are no usage', async () => {
    const data = [{ b64_json: b64, revised_prompt: 'a nice cat' }]
    const played = play('xai', () => ({ json: { data, usage: { cost_in_usd_ticks: 5 } } }))
    const reply = await served('xai', 'grok-imagine-image', played, { n: 2, size: '1792x1024' })
    expect(played.heard[0]).toMatchObject({ path: '/v1/images/generations', method: 'POST' })
    expect(played.heard[0]?.json).toEqual({
      model: 'grok-imagine-image',
      prompt: 'a cat',
      n: 2,
      response_format: 'b64_json',
      aspect_ratio: '16:9',
    })
    expect(bytesOf(reply)[0]?.equals(picture)).toBe(true)
    expect(reply.images[0]?.revisedPrompt).toBe('a nice cat')
    expect(reply.usage).toBeNull()
  })

  test('images given as addresses of their bytes, one or several', async () => {
    const played = play('xai', () => ({ json: { data: [{ url: 'https://x.ai/a.jpg' }] } }))
    const one = upload('image', picture)
    const reply = await served('xai', 'grok-imagine-image', played, {}, [one])
    await served('xai', 'grok-imagine-image', played, {}, [one, one])
    const url = `data:image/png;base64,${b64}`
    expect(played.heard[0]).toMatchObject({ path: '/v1/images/edits' })
    expect(played.heard[0]?.json['image']).toEqual({ url, type: 'image_url' })
    expect(played.heard[1]?.json['images']).toHaveLength(2)
    expect(reply.images).toEqual([{ url: 'https://x.ai/a.jpg' }])
  })
})

describe('Black Forest Labs', () => {
  const polling = 'https://api.us1.bfl.ai/v1/get_result?id=job-1'
  const sample = 'https://delivery.example/a.png?sig=1'
  const jobs = (...states: JsonObject[]) =>
    play('bfl', ({ method }, count) =>
      method === 'POST'
        ? { json: { id: 'job-1', polling_url: polling } }
        : { json: states[Math.min(count - 2, states.length - 1)] },
    )

  test('asked after where the vendor says, with its key, until it is ready', async () => {
    const ready = { status: 'Ready', result: { sample } }
    const played = jobs({ status: 'Pending' }, { state: 'Pending' }, ready)
    const reply = await served('bfl', 'flux-pro-1.1', played, { size: '1024x768' })
    expect(played.heard.map(({ method, url, signed }) => [method, url, signed])).toEqual([
      ['POST', 'https://api.bfl.ai/v1/flux-pro-1.1', undefined],
      ['GET', polling, true],
      ['GET', polling, true],
      ['GET', polling, true],
    ])
    expect(played.heard[0]?.json).toEqual({
      prompt: 'a cat',
      width: 1024,
      height: 768,
      output_format: 'png',
    })
    expect(reply.images).toEqual([{ url: sample }])
    expect(played.waitedMs[1]).toBeGreaterThan(played.waitedMs[0] ?? Number.NaN)
  })

  test('the key goes to nobody else', async () => {
    const played = play('bfl', ({ method }) =>
      method === 'POST'
        ? { json: { id: 'j', polling_url: 'https://bfl.ai.evil.example/get' } }
        : { json: { status: 'Ready', result: { sample } } },
    )
    await served('bfl', 'flux-dev', played, {})
    expect(played.heard[1]).toMatchObject({
      url: 'https://bfl.ai.evil.example/get?id=j',
      signed: false,
    })
  })

  test.each([
    ['flux-kontext-pro', { size: '1536x1024' }, { aspect_ratio: '3:2' }],
    ['flux-pro-1.1-ultra', { size: '1024x1024' }, { aspect_ratio: '1:1' }],
    ['flux-2-pro', {}, { width: 1024, height: 1024 }],
    ['flux-2-pro', { size: '2048x1024', seed: 7 }, { width: 2048, height: 1024, seed: 7 }],
  ])('%s with %j', async (model, fields, asked) => {
    const played = jobs({ status: 'Ready', result: { sample } })
    await served('bfl', model, played, fields)
    expect(played.heard[0]?.json).toMatchObject(asked)
  })

  test('images given: Kontext and FLUX.2 several, Fill with its mask', async () => {
    const played = jobs({ status: 'Ready', result: { sample } })
    const [image, mask] = [upload('image', picture), upload('mask', picture)]
    await served('bfl', 'flux-kontext-pro', played, {}, [image, image])
    expect(played.heard[0]?.json).toMatchObject({ input_image: b64, input_image_2: b64 })
    const filling = jobs({ status: 'Ready', result: { sample } })
    await served('bfl', 'flux-pro-1.0-fill', filling, {}, [image, mask])
    expect(filling.heard[0]?.json).toMatchObject({ image: b64, mask: b64 })
    for (const [model, uploads] of [
      ['flux-kontext-pro', [image, mask]],
      ['flux-pro-1.1', [image]],
    ] as const)
      await expect(served('bfl', model, jobs({}), {}, uploads)).rejects.toThrow()
  })

  test.each([
    ['Request Moderated', 'rejected'],
    ['Content Moderated', 'rejected'],
    ['Error', 'vendor_error'],
    ['Failed', 'vendor_error'],
    ['Task not found', 'vendor_error'],
  ])('a job that ends as %s', async (status, kind) => {
    const failure = served('bfl', 'flux-dev', jobs({ status }), {})
    await expect(failure).rejects.toMatchObject({ fault: { kind } })
  })

  test.each([
    [{ id: 'x' }, 'polling_url'],
    [{ id: 'x', polling_url: 'http://[' }, 'polling_url'],
  ])('a job without an address: %j', async (submitted, says) => {
    const played = play('bfl', () => ({ json: submitted }))
    await expect(served('bfl', 'flux-dev', played, {})).rejects.toThrow(says)
  })

  test('a poll that fails for the moment is tried again, one that is refused is not', async () => {
    let polls = 0
    const played = play('bfl', ({ method }) => {
      if (method === 'POST') return { json: { id: 'j', polling_url: polling } }
      polls++
      return polls < 3
        ? { status: polls === 1 ? 503 : 429, json: {} }
        : { json: { status: 'Ready', result: { sample } } }
    })
    expect((await served('bfl', 'flux-dev', played, {})).images).toHaveLength(1)
    const refusing = play('bfl', ({ method }) =>
      method === 'POST'
        ? { json: { id: 'j', polling_url: polling } }
        : { status: 403, json: { detail: 'Not authenticated' } },
    )
    await expect(served('bfl', 'flux-dev', refusing, {})).rejects.toMatchObject({
      fault: { kind: 'credentials' },
    })
  })
})

describe('Stability', () => {
  const made = { json: { image: b64, finish_reason: 'SUCCESS', seed: 1 } }

  async function formOf({ contentType, text }: Heard) {
    const body = Uint8Array.from(Buffer.from(text, 'latin1'))
    const form = await new Response(body, { headers: { 'content-type': contentType } }).formData()
    return Object.fromEntries(
      [...form].map(([name, value]) => [name, typeof value === 'string' ? value : value.size]),
    )
  }

  test.each([
    [
      'stable-image-core',
      { size: '1344x768' },
      '/core',
      { prompt: 'a cat', aspect_ratio: '16:9', output_format: 'png' },
    ],
    [
      'stable-image-ultra',
      { output_format: 'webp' },
      '/ultra',
      { prompt: 'a cat', output_format: 'webp' },
    ],
    [
      'sd3.5-large',
      { seed: 4 },
      '/sd3',
      { prompt: 'a cat', model: 'sd3.5-large', seed: '4', output_format: 'png' },
    ],
  ])('%s %j', async (model, fields, path, form) => {
    const played = play('stability', () => made)
    const reply = await served('stability', model, played, fields)
    const [heard] = played.heard
    expect(heard?.path).toBe(`/v2beta/stable-image/generate${path}`)
    expect(heard?.headers['accept']).toBe('application/json')
    expect(heard && (await formOf(heard))).toEqual(form)
    expect(bytesOf(reply)[0]?.equals(picture)).toBe(true)
  })

  test('an image is followed, or made anew where its mask says', async () => {
    const played = play('stability', () => made)
    const [image, mask] = [upload('image', picture), upload('mask', picture)]
    await served('stability', 'sd3.5-large', played, {}, [image])
    await served('stability', 'stable-image-core', played, {}, [image, mask])
    const [first, second] = played.heard
    expect(first && (await formOf(first))).toMatchObject({
      mode: 'image-to-image',
      strength: '0.7',
    })
    expect(second?.path).toBe('/v2beta/stable-image/edit/inpaint')
    expect(second && (await formOf(second))).toMatchObject({
      image: picture.length,
      mask: picture.length,
    })
  })

  test('what is filtered is refused', async () => {
    const filtered = { json: { image: b64, finish_reason: 'CONTENT_FILTERED' } }
    await expect(
      served(
        'stability',
        'sd3.5-large',
        play('stability', () => filtered),
        {},
      ),
    ).rejects.toMatchObject(refused(/filtered/))
    const json = { id: 'x', name: 'content_moderation', errors: ['flagged'] }
    await expect(
      served(
        'stability',
        'sd3.5-large',
        play('stability', () => ({ status: 403, json })),
        {},
      ),
    ).rejects.toMatchObject({ fault: { kind: 'rejected', status: 403 } })
    await expect(
      served(
        'stability',
        'sd3.5-large',
        play('stability', () => ({ status: 402, json: {} })),
        {},
      ),
    ).rejects.toMatchObject({ fault: { kind: 'quota' } })
  })
})

describe('fal', () => {
  const root = 'https://queue.fal.run/fal-ai/flux/requests/r1'
  const submitted = { request_id: 'r1', status_url: `${root}/status`, response_url: root }
  const queue = (result: JsonObject, last: JsonObject = { status: 'COMPLETED' }) =>
    play('fal', ({ method, url }, count) => {
      if (method === 'POST') return { json: submitted }
      if (!url.endsWith('/status')) return { json: result }
      return { status: 202, json: count === 2 ? { status: 'IN_QUEUE' } : last }
    })

  test('put in the queue, asked after, fetched', async () => {
    const played = queue({
      images: [{ url: 'https://v3.fal.media/a.png' }, { url: `data:image/png;base64,${b64}` }],
    })
    const reply = await served('fal', 'fal-ai/flux/dev', played, { n: 2, size: '1024x768' })
    expect(played.heard.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST https://queue.fal.run/fal-ai/flux/dev',
      `GET ${root}/status`,
      `GET ${root}/status`,
      `GET ${root}`,
    ])
    expect(played.heard[0]?.json).toEqual({
      prompt: 'a cat',
      num_images: 2,
      image_size: { width: 1024, height: 768 },
    })
    expect(reply.images[0]).toEqual({ url: 'https://v3.fal.media/a.png' })
    expect(bytesOf(reply)[1]?.equals(picture)).toBe(true)
  })

  test('shapes and images as each model takes them', async () => {
    const url = `data:image/png;base64,${b64}`
    const image = upload('image', picture)
    const asked = async (model: string, fields: JsonObject, uploads: readonly Upload[] = []) => {
      const played = queue({ images: [{ url }] })
      await served('fal', model, played, fields, uploads)
      return played.heard[0]?.json
    }
    expect(await asked('fal-ai/nano-banana-pro', { size: '2048x2048' })).toMatchObject({
      aspect_ratio: '1:1',
      resolution: '2K',
    })
    expect(await asked('fal-ai/flux-pro/kontext', { size: '1280x720' }, [image])).toMatchObject({
      aspect_ratio: '16:9',
      image_url: url,
    })
    expect(await asked('fal-ai/nano-banana/edit', {}, [image, image])).toMatchObject({
      image_urls: [url, url],
    })
  })

  test('what failed, what was filtered, and a job somewhere else', async () => {
    const model = 'fal-ai/flux/dev'
    await expect(
      served('fal', model, queue({}, { status: 'COMPLETED', error: 'out of memory' }), {}),
    ).rejects.toMatchObject({ fault: { kind: 'vendor_error' } })
    const nsfw = { images: [{ url: 'https://a.b/c' }], has_nsfw_concepts: [true] }
    await expect(served('fal', model, queue(nsfw), {})).rejects.toMatchObject(refused(/filtered/))
    const elsewhere = { ...submitted, status_url: 'https://evil.example/status' }
    await expect(
      served(
        'fal',
        model,
        play('fal', () => ({ json: elsewhere })),
        {},
      ),
    ).rejects.toMatchObject({ fault: { kind: 'unreadable' } })
    const detail = [{ loc: ['body', 'prompt'], msg: 'flagged', type: 'content_policy_violation' }]
    await expect(
      served(
        'fal',
        model,
        play('fal', () => ({ status: 422, json: { detail } })),
        {},
      ),
    ).rejects.toMatchObject({ fault: { kind: 'rejected' } })
  })
})

describe('DashScope', () => {
  const base = 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1'
  const url = 'https://result.example/a.png'

  test('Qwen-Image answers at once, beside the compatible mode', async () => {
    const content = [{ image: url }]
    const json = { output: { choices: [{ message: { role: 'assistant', content } }] } }
    const played = play('dashscope', () => ({ json }), base)
    const reply = await served('dashscope', 'qwen-image-plus', played, { n: 2, size: '1664x928' })
    expect(played.heard).toHaveLength(2)
    expect(played.heard[0]?.url).toBe(
      'https://dashscope-intl.aliyuncs.com/api/v1/services/aigc/multimodal-generation/generation',
    )
    expect(played.heard[0]?.json).toEqual({
      model: 'qwen-image-plus',
      input: { messages: [{ role: 'user', content: [{ text: 'a cat' }] }] },
      parameters: { size: '1664*928', watermark: false },
    })
    expect(reply.images).toEqual([{ url }, { url }])
  })

  test('several images in one call where the model makes them, of images given', async () => {
    const json = {
      output: { choices: [{ message: { content: [{ image: url }, { image: url }] } }] },
    }
    const played = play('dashscope', () => ({ json }), base)
    const given = upload('image', picture)
    await served('dashscope', 'qwen-image-edit-plus', played, { n: 2 }, [given])
    expect(played.heard).toHaveLength(1)
    expect(played.heard[0]?.json).toMatchObject({
      input: {
        messages: [{ content: [{ image: `data:image/png;base64,${b64}` }, { text: 'a cat' }] }],
      },
      parameters: { n: 2 },
    })
  })

  test('Wan is a job', async () => {
    const played = play(
      'dashscope',
      ({ method }, count) => {
        if (method === 'POST')
          return { json: { output: { task_id: 't1', task_status: 'PENDING' } } }
        const done = { task_status: 'SUCCEEDED', results: [{ url }] }
        return { json: { output: count < 4 ? { task_status: 'RUNNING' } : done } }
      },
      base,
    )
    const reply = await served('dashscope', 'wan2.6-t2i', played, { size: '1280x1280' })
    expect(played.heard[0]?.headers['x-dashscope-async']).toBe('enable')
    expect(played.heard[0]?.json).toMatchObject({ parameters: { size: '1280*1280', n: 1 } })
    expect(played.heard[1]?.url).toBe('https://dashscope-intl.aliyuncs.com/api/v1/tasks/t1')
    expect(reply.images).toEqual([{ url }])
  })

  test('what is refused and what failed', async () => {
    const job = (output: JsonObject) =>
      play('dashscope', ({ method }) =>
        method === 'POST' ? { json: { output: { task_id: 't' } } } : { json: { output } },
      )
    const inspected = { task_status: 'FAILED', code: 'DataInspectionFailed', message: 'no' }
    await expect(served('dashscope', 'wan2.6-t2i', job(inspected), {})).rejects.toMatchObject(
      refused(/no$/),
    )
    const failed = { task_status: 'FAILED', code: 'InternalError', message: 'oh' }
    await expect(served('dashscope', 'wan2.6-t2i', job(failed), {})).rejects.toMatchObject({
      fault: { kind: 'vendor_error' },
    })
    const json = { code: 'DataInspectionFailed', message: 'inappropriate content' }
    const refusing = play('dashscope', () => ({ status: 400, json }))
    await expect(served('dashscope', 'qwen-image', refusing, {})).rejects.toMatchObject({
      fault: { kind: 'rejected', code: 'content_policy_violation' },
    })
  })
})

// Tests image requests to Stability, fal and DashScope, and how their answers are translated.

import { describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import type { Upload } from '../../src/vendors/media.ts'
import { vendors } from '../../src/vendors/registry.ts'
import type { JsonObject } from '../../src/wire/ir.ts'
import {
  bytesOf,
  mediaCall,
  moderatedFault,
  type PlayedRequest,
  play,
  playedTools,
  servedImages,
  upload,
} from '../support/media-tools.ts'
import { png } from '../support/samples.ts'

const picture = png(64, 64)
const b64 = picture.toString('base64')

describe('Stability', () => {
  const made = { json: { image: b64, finish_reason: 'SUCCESS', seed: 1 } }

  async function formOf({ contentType, text }: PlayedRequest) {
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
    const reply = await servedImages('stability', model, played, fields)
    const [request] = played.requests
    expect(request?.path).toBe(`/v2beta/stable-image/generate${path}`)
    expect(request?.headers['accept']).toBe('application/json')
    expect(request && (await formOf(request))).toEqual(form)
    expect(bytesOf(reply)[0]?.equals(picture)).toBe(true)
  })

  test('an image is followed, or made anew where its mask says', async () => {
    const played = play('stability', () => made)
    const [image, mask] = [upload('image', picture), upload('mask', picture)]
    await servedImages('stability', 'sd3.5-large', played, {}, [image])
    await servedImages('stability', 'stable-image-core', played, {}, [image, mask])
    const [first, second] = played.requests
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
      servedImages(
        'stability',
        'sd3.5-large',
        play('stability', () => filtered),
        {},
      ),
    ).rejects.toMatchObject(moderatedFault(/filtered/))
    const json = { id: 'x', name: 'content_moderation', errors: ['flagged'] }
    await expect(
      servedImages(
        'stability',
        'sd3.5-large',
        play('stability', () => ({ status: 403, json })),
        {},
      ),
    ).rejects.toMatchObject({ fault: { kind: 'rejected', status: 403 } })
    await expect(
      servedImages(
        'stability',
        'sd3.5-large',
        play('stability', () => ({ status: 402, json: {} })),
        {},
      ),
    ).rejects.toMatchObject({ fault: { kind: 'quota' } })
  })
})

describe('a server that speaks the form of OpenAI', () => {
  const baseUrl = 'http://10.0.0.5:8080/v1'
  const url = 'http://10.0.0.5:8080/made/a.png'
  const ask = (response_format: string, image: object) => {
    const played = playedTools('openai-compatible', {
      baseUrl,
      answer: ({ method }) =>
        method === 'GET'
          ? { bytes: picture, type: 'image/png' }
          : { json: { created: 1, data: [image], usage: { total_tokens: 3 } } },
    })
    const call = mediaCall('openai-images', 'm', { prompt: 'a cat', response_format })
    const adapter = vendors['openai-compatible']?.adapters?.['openai-images']
    return { played, reply: adapter?.serve(call, played.tools) }
  }

  test.each([
    ['url', { url }],
    ['b64_json', { b64_json: b64 }],
  ])('what is %s already passes as it came', async (format, image) => {
    const { played, reply } = ask(format, image)
    const made = await reply
    if (made?.kind !== 'plain') throw new Error('it was changed')
    const parts: Uint8Array[] = []
    for await (const chunk of made.chunks) parts.push(chunk)
    const json = JSON.parse(Buffer.concat(parts).toString())
    expect(json).toEqual({ created: 1, data: [image], usage: { total_tokens: 3 } })
    expect(played.requests[0]?.json['response_format']).toBe(format)
  })

  test('what is not is brought into form, from the server itself without its key', async () => {
    for (const [format, image] of [
      ['url', { b64_json: b64, revised_prompt: 'two cats' }],
      ['b64_json', { url, revised_prompt: 'two cats' }],
    ] as const) {
      const { played, reply } = ask(format, image)
      const made = await reply
      if (made?.kind !== 'images') throw new Error('these are no images')
      expect(bytesOf(made)[0]?.equals(picture)).toBe(true)
      expect(made.images[0]?.revisedPrompt).toBe('two cats')
      expect(made.usage).toEqual({ total_tokens: 3 })
      if (format === 'b64_json') expect(played.requests[1]).toMatchObject({ url, signed: false })
    }
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
    const reply = await servedImages('fal', 'fal-ai/flux/dev', played, { n: 2, size: '1024x768' })
    expect(played.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST https://queue.fal.run/fal-ai/flux/dev',
      `GET ${root}/status`,
      `GET ${root}/status`,
      `GET ${root}`,
    ])
    expect(played.requests[0]?.json).toEqual({
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
      await servedImages('fal', model, played, fields, uploads)
      return played.requests[0]?.json
    }
    expect(await asked('fal-ai/nano-banana-pro', { size: '2048x2048' })).toMatchObject({
      aspect_ratio: '1:1',
      resolution: '2K',
    })
    const both = { size: '4096x4096', aspect_ratio: '16:9' }
    expect(await asked('fal-ai/nano-banana-pro', both)).toMatchObject({
      aspect_ratio: '1:1',
      resolution: '4K',
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
      servedImages('fal', model, queue({}, { status: 'COMPLETED', error: 'out of memory' }), {}),
    ).rejects.toMatchObject({ fault: { kind: 'vendor_error' } })
    const nsfw = { images: [{ url: 'https://a.b/c' }], has_nsfw_concepts: [true] }
    await expect(servedImages('fal', model, queue(nsfw), {})).rejects.toMatchObject(
      moderatedFault(/filtered/),
    )
    const elsewhere = { ...submitted, status_url: 'https://evil.example/status' }
    await expect(
      servedImages(
        'fal',
        model,
        play('fal', () => ({ json: elsewhere })),
        {},
      ),
    ).rejects.toMatchObject({ fault: { kind: 'unreadable' } })
    const detail = [{ loc: ['body', 'prompt'], msg: 'flagged', type: 'content_policy_violation' }]
    await expect(
      servedImages(
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
    const reply = await servedImages('dashscope', 'qwen-image-plus', played, {
      n: 2,
      size: '1664x928',
    })
    expect(played.requests).toHaveLength(2)
    expect(played.requests[0]?.url).toBe(
      'https://dashscope-intl.aliyuncs.com/api/v1/services/aigc/multimodal-generation/generation',
    )
    expect(played.requests[0]?.json).toEqual({
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
    await servedImages('dashscope', 'qwen-image-edit-plus', played, { n: 2 }, [given])
    expect(played.requests).toHaveLength(1)
    expect(played.requests[0]?.json).toMatchObject({
      input: {
        messages: [{ content: [{ image: `data:image/png;base64,${b64}` }, { text: 'a cat' }] }],
      },
      parameters: { n: 2 },
    })
  })

  test('an image behind an address is fetched once, however many calls it takes', async () => {
    const json = { output: { choices: [{ message: { content: [{ image: url }] } }] } }
    const fetched = () => upload('image', picture).payload
    const played = playedTools('dashscope', { answer: () => ({ json }), baseUrl: base, fetched })
    const fields = { n: 3, images: [{ image_url: 'https://a.b/c' }] }
    const edits = 'openai-image-edits'
    await servedImages('dashscope', 'qwen-image-edit', played, fields, [], edits)
    expect(played.requests).toHaveLength(3)
    expect(played.fetched).toEqual(['https://a.b/c'])
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
    const reply = await servedImages('dashscope', 'wan2.6-t2i', played, { size: '1280x1280' })
    expect(played.requests[0]?.headers['x-dashscope-async']).toBe('enable')
    expect(played.requests[0]?.json).toMatchObject({ parameters: { size: '1280*1280', n: 1 } })
    expect(played.requests[1]?.url).toBe('https://dashscope-intl.aliyuncs.com/api/v1/tasks/t1')
    expect(reply.images).toEqual([{ url }])
  })

  test('what is refused and what failed', async () => {
    const job = (output: JsonObject) =>
      play('dashscope', ({ method }) =>
        method === 'POST' ? { json: { output: { task_id: 't' } } } : { json: { output } },
      )
    const inspected = { task_status: 'FAILED', code: 'DataInspectionFailed', message: 'no' }
    await expect(servedImages('dashscope', 'wan2.6-t2i', job(inspected), {})).rejects.toMatchObject(
      moderatedFault(/no$/),
    )
    const failed = { task_status: 'FAILED', code: 'InternalError', message: 'oh' }
    await expect(servedImages('dashscope', 'wan2.6-t2i', job(failed), {})).rejects.toMatchObject({
      fault: { kind: 'vendor_error' },
    })
    const json = { code: 'DataInspectionFailed', message: 'inappropriate content' }
    const refusing = play('dashscope', () => ({ status: 400, json }))
    await expect(servedImages('dashscope', 'qwen-image', refusing, {})).rejects.toMatchObject({
      fault: { kind: 'rejected', code: 'content_policy_violation' },
    })
  })
})

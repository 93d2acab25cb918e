// Tests image requests to Gemini, xAI and FLUX, and how their answers are translated.

import { describe, expect, test } from 'bun:test'
import { MediaFault } from '../../src/vendors/media.ts'
import type { JsonObject } from '../../src/wire/ir.ts'
import {
  bytesOf,
  moderatedFault,
  play,
  playedTools,
  servedImages,
  upload,
} from '../support/media-tools.ts'
import { png } from '../support/samples.ts'

const picture = png(64, 64)
const b64 = picture.toString('base64')

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
    const reply = await servedImages('google', 'gemini-3-pro-image', played, {
      n: 2,
      size: '2752x1536',
    })
    expect(played.requests.map(({ path }) => path)).toEqual([
      '/v1beta/models/gemini-3-pro-image:generateContent',
      '/v1beta/models/gemini-3-pro-image:generateContent',
    ])
    expect(played.requests[0]?.json).toEqual({
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
    await servedImages('google', model, played, { size })
    expect(played.requests[0]?.json['generationConfig']).toMatchObject({ imageConfig })
  })

  test('images given stand before the prompt, from files, from addresses and in them', async () => {
    const given = { inlineData }
    const played = play('google', () => ({ json: drawn }))
    await servedImages('google', 'gemini-2.5-flash-image', played, {}, [upload('image', picture)])
    const parts = [given, { text: 'a cat' }]
    expect(played.requests[0]?.json['contents']).toEqual([{ role: 'user', parts }])
    const images = [{ image_url: `data:image/png;base64,${b64}` }, { image_url: 'https://a.b/c' }]
    const fetching = playedTools('google', {
      answer: () => ({ json: drawn }),
      fetched: () => upload('image', picture).payload,
    })
    const edits = 'openai-image-edits'
    await servedImages('google', 'gemini-2.5-flash-image', fetching, { images }, [], edits)
    expect(fetching.fetched).toEqual(['https://a.b/c'])
    expect(fetching.requests[0]?.json['contents']).toEqual([
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
    const failure = servedImages('google', 'gemini-2.5-flash-image', played, fields, uploads)
    await expect(failure).rejects.toMatchObject({ detail: { param } })
    expect(played.requests).toEqual([])
  })

  test('an image behind an address that cannot be had is the client’s mistake', async () => {
    const images = [{ image_url: 'https://a.b/c' }]
    const played = play('google', () => ({ json: drawn }))
    const edits = 'openai-image-edits'
    await expect(
      servedImages('google', 'gemini-2.5-flash-image', played, { images }, [], edits),
    ).rejects.toMatchObject({
      message: 'images[0].image_url cannot be fetched: nothing is there',
      detail: { param: 'images[0].image_url' },
    })
  })

  test('what is blocked is refused, what is no image has failed', async () => {
    const model = 'gemini-2.5-flash-image'
    const blocked = { promptFeedback: { blockReason: 'SAFETY' } }
    await expect(
      servedImages(
        'google',
        model,
        play('google', () => ({ json: blocked })),
        {},
      ),
    ).rejects.toMatchObject(moderatedFault(/blocked/))
    const stopped = { candidates: [{ finishReason: 'IMAGE_SAFETY' }] }
    await expect(
      servedImages(
        'google',
        model,
        play('google', () => ({ json: stopped })),
        {},
      ),
    ).rejects.toMatchObject(moderatedFault(/IMAGE_SAFETY/))
    const talk = { candidates: [{ content: { parts: [{ text: 'No.' }] }, finishReason: 'STOP' }] }
    await expect(
      servedImages(
        'google',
        model,
        play('google', () => ({ json: talk })),
        {},
      ),
    ).rejects.toMatchObject({ fault: { kind: 'vendor_error' } })
  })

  test('on Vertex below the project, signed', async () => {
    const played = play('vertex', () => ({ json: drawn }))
    await servedImages('vertex', 'gemini-2.5-flash-image', played, {})
    expect(played.requests[0]).toMatchObject({ signed: true, method: 'POST' })
    expect(played.requests[0]?.path).toEndWith('gemini-2.5-flash-image:generateContent')
  })
})

describe('xAI', () => {
  test('base64 in shapes; its own units are no usage', async () => {
    const data = [{ b64_json: b64, revised_prompt: 'a nice cat' }]
    const played = play('xai', () => ({ json: { data, usage: { cost_in_usd_ticks: 5 } } }))
    const reply = await servedImages('xai', 'grok-imagine-image', played, {
      n: 2,
      size: '1792x1024',
    })
    expect(played.requests[0]).toMatchObject({ path: '/v1/images/generations', method: 'POST' })
    expect(played.requests[0]?.json).toEqual({
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
    const reply = await servedImages('xai', 'grok-imagine-image', played, {}, [one])
    await servedImages('xai', 'grok-imagine-image', played, {}, [one, one])
    const url = `data:image/png;base64,${b64}`
    expect(played.requests[0]).toMatchObject({ path: '/v1/images/edits' })
    expect(played.requests[0]?.json['image']).toEqual({ url, type: 'image_url' })
    expect(played.requests[1]?.json['images']).toHaveLength(2)
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
    const reply = await servedImages('bfl', 'flux-pro-1.1', played, { size: '1024x768' })
    expect(played.requests.map(({ method, url, signed }) => [method, url, signed])).toEqual([
      ['POST', 'https://api.bfl.ai/v1/flux-pro-1.1', undefined],
      ['GET', polling, true],
      ['GET', polling, true],
      ['GET', polling, true],
    ])
    expect(played.requests[0]?.json).toEqual({
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
    await servedImages('bfl', 'flux-dev', played, {})
    expect(played.requests[1]).toMatchObject({
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
    await servedImages('bfl', model, played, fields)
    expect(played.requests[0]?.json).toMatchObject(asked)
  })

  test('images given: Kontext and FLUX.2 several, Fill with its mask', async () => {
    const played = jobs({ status: 'Ready', result: { sample } })
    const [image, mask] = [upload('image', picture), upload('mask', picture)]
    await servedImages('bfl', 'flux-kontext-pro', played, {}, [image, image])
    expect(played.requests[0]?.json).toMatchObject({ input_image: b64, input_image_2: b64 })
    const filling = jobs({ status: 'Ready', result: { sample } })
    await servedImages('bfl', 'flux-pro-1.0-fill', filling, {}, [image, mask])
    expect(filling.requests[0]?.json).toMatchObject({ image: b64, mask: b64 })
    for (const [model, uploads] of [
      ['flux-kontext-pro', [image, mask]],
      ['flux-pro-1.1', [image]],
    ] as const)
      await expect(servedImages('bfl', model, jobs({}), {}, uploads)).rejects.toThrow()
  })

  test.each([
    ['Request Moderated', 'rejected'],
    ['Content Moderated', 'rejected'],
    ['Error', 'vendor_error'],
    ['Failed', 'vendor_error'],
    ['Task not found', 'vendor_error'],
  ])('a job that ends as %s', async (status, kind) => {
    const failure = servedImages('bfl', 'flux-dev', jobs({ status }), {})
    await expect(failure).rejects.toMatchObject({ fault: { kind } })
  })

  test.each([
    [{ id: 'x' }, 'polling_url'],
    [{ id: 'x', polling_url: 'http://[' }, 'polling_url'],
  ])('a job without an address: %j', async (submitted, says) => {
    const played = play('bfl', () => ({ json: submitted }))
    await expect(servedImages('bfl', 'flux-dev', played, {})).rejects.toThrow(says)
  })

  test('a poll that fails for the moment is tried again, one that is refused is not', async () => {
    let polls = 0
    const played = play('bfl', ({ method }) => {
      if (method === 'POST') return { json: { id: 'j', polling_url: polling } }
      polls++
      if (polls === 3) throw new MediaFault({ kind: 'reset', message: 'no answer' })
      return polls < 3
        ? { status: polls === 1 ? 503 : 429, json: {} }
        : { json: { status: 'Ready', result: { sample } } }
    })
    expect((await servedImages('bfl', 'flux-dev', played, {})).images).toHaveLength(1)
    const refusing = play('bfl', ({ method }) =>
      method === 'POST'
        ? { json: { id: 'j', polling_url: polling } }
        : { status: 403, json: { detail: 'Not authenticated' } },
    )
    await expect(servedImages('bfl', 'flux-dev', refusing, {})).rejects.toMatchObject({
      fault: { kind: 'credentials' },
    })
  })
})

// How vendors are asked for videos and moderations.

import type { JsonObject } from '../../../src/wire/ir.ts'
import { startVideoVendor } from '../../support/video-vendor.ts'
import { filmOf, given, pictureOf } from './made.ts'
import { only, Refused, type Service, signed } from './server.ts'

export interface VideoService extends AsyncDisposable {
  readonly service: Service
}

/**
 * OpenAI API reference, "Videos": jobs are done when they are queried for a second time, or fail if their text says so.
 */
export function startOpenaiVideos(): VideoService {
  const vendor = startVideoVendor()
  vendor.hooks = {
    polled(job) {
      job.status = String(job.body['prompt']).includes('fail') ? 'failed' : 'completed'
      job.progress = 100
    },
    content({ body }, request) {
      const variant = new URL(request.url).searchParams.get('variant')
      const bytes =
        variant === null ? filmOf(String(body['size']), Number(body['seconds'])) : pictureOf(64, 64)
      const type = variant === null ? 'video/mp4' : 'image/png'
      return new Response(Uint8Array.from(bytes), { headers: { 'content-type': type } })
    },
  }
  return {
    async service(asked) {
      signed(asked, 'authorization', 'Bearer ')
      const query = asked.query.size === 0 ? '' : `?${asked.query}`
      const url = vendor.url.replace(/\/v1$/, '') + asked.path + query
      const { method, headers } = asked
      const body = method === 'POST' ? await asked.bytes() : null
      const type = headers.get('content-type') ?? ''
      if (type.startsWith('multipart/')) await checkForm(body, type)
      const sent = type === '' ? {} : { headers: { 'content-type': type } }
      return fetch(url, { method, ...sent, ...(body !== null && { body: Uint8Array.from(body) }) })
    },
    [Symbol.asyncDispose]: () => vendor.stop(),
  }
}

async function checkForm(body: Uint8Array | null, type: string): Promise<void> {
  const reply = new Response(Uint8Array.from(body ?? []), { headers: { 'content-type': type } })
  const file = ((await reply.formData()) as FormData).get('input_reference')
  if (file === null) return
  if (!(file instanceof File)) throw new Refused('input_reference is no file')
  if (!given.equals(await file.bytes())) throw new Refused('the image is damaged')
}

/** OpenAI API reference, "Moderations": text that contains `hurt` is violent. */
export const openaiModerations: Service = async (asked) => {
  signed(asked, 'authorization', 'Bearer ')
  if (asked.path !== '/v1/moderations') throw new Refused('no such path', 404)
  const body = await asked.json()
  only(Object.keys(body), 'model', 'input')
  const { input } = body
  // Parts of one input are judged together, texts of a list separately.
  const parts = Array.isArray(input) && input.some((each) => typeof each === 'object')
  const each = Array.isArray(input) && !parts ? input : [input]
  const results = each.map((one) => judged(JSON.stringify(one).includes('hurt')))
  return Response.json({ id: 'modr-1', model: 'omni-moderation-2024-09-26', results })
}

function judged(flagged: boolean): JsonObject {
  return {
    flagged,
    categories: { hate: false, violence: flagged },
    category_scores: { hate: 0.01, violence: flagged ? 0.97 : 0.02 },
    category_applied_input_types: { hate: ['text'], violence: ['text', 'image'] },
  }
}

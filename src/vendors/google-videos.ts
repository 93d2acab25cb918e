// Videos of Google's Veo: an operation to poll, whose result is a file that needs the key.

import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { listOf, objectOf, text } from '../wire/json/value.ts'
import { JsonBody } from './base64.ts'
import { imageNamed, needed } from './images.ts'
import type { MediaCall, MediaTools, Payload } from './media.ts'
import { pathSegment } from './path-segment.ts'
import {
  getJson,
  postJson,
  removeAt,
  type VideoAdapter,
  type VideoNews,
  videoFailed,
  videoRequest,
} from './video.ts'

/** Files are kept for two days (ai.google.dev, "Generate videos with Veo"). */
const keptMs = 2 * 86_400_000
/** Uses `models.predictLongRunning` and the operation it returns. */
export const veo: VideoAdapter = {
  async start(call, tools) {
    const { prompt, seconds, ratio, lines } = videoRequest(call)
    const body = new JsonBody()
    const reference = await imageOf(call, tools)
    const instance: JsonObject = {
      prompt,
      ...(reference !== null && {
        image: { bytesBase64Encoded: body.hole(reference), mimeType: reference.type },
      }),
    }
    const parameters = {
      aspectRatio: ratio === '9:16' ? '9:16' : '16:9',
      durationSeconds: seconds,
      ...resolutionOf(call.model, lines),
    }
    const name = pathSegment(call.model.replace(/^models\//, ''))
    const url = `${tools.baseUrl}/models/${name}:predictLongRunning`
    const started = await postJson(tools, url, { instances: [instance], parameters }, body)
    return { handle: needed(started['name'], 'the vendor named no operation') }
  },
  async poll({ handle }, tools) {
    const url = `${tools.baseUrl}/${handle.split('/').map(encodeURIComponent).join('/')}`
    return newsOf(await getJson(tools, url), tools.nowMs)
  },
  async content({ kept }) {
    return { call: { method: 'GET', url: String(kept['uri']) } }
  },
  /** `files.delete` of the Gemini API, at the address of the file without its download. */
  async remove({ kept }, tools) {
    const [, file] = /^([^?]+\/files\/[^/?:]+)(:download)?(\?|$)/.exec(String(kept['uri'])) ?? []
    const isOwn = file !== undefined && new URL(file).origin === new URL(tools.baseUrl).origin
    if (isOwn) await removeAt(tools, { method: 'DELETE', url: file })
  },
}

async function imageOf(call: MediaCall, tools: MediaTools): Promise<Payload | null> {
  const upload = call.uploads.find(({ field }) => field === 'input_reference')
  if (upload !== undefined) return upload.payload
  const { input_reference: reference } = call.fields
  return reference == null ? null : imageNamed(reference, 'input_reference', tools)
}

/** Veo 2 makes 720 lines and has no parameter for that. */
function resolutionOf(model: string, lines: number): JsonObject {
  if (/veo-2/.test(model)) return {}
  return { resolution: lines >= 2_160 ? '4k' : `${lines}p` }
}

function newsOf(operation: JsonObject, nowMs: number): VideoNews {
  const { done, error, response } = operation
  if (done !== true) return { state: 'running' }
  if (error != null) {
    const { code, message } = objectOf(error)
    return videoFailed(message, `google_${String(code ?? 'error')}`)
  }
  const result = objectOf(objectOf(response)['generateVideoResponse'])
  const reasons = listOf(result['raiMediaFilteredReasons'])
  const uri = uriOf(result)
  if (uri !== null) return { state: 'completed', kept: { uri }, expiresAt: nowMs + keptMs }
  if (Number(result['raiMediaFilteredCount'] ?? 0) > 0 || reasons.length > 0)
    return videoFailed(reasons[0], 'moderation_blocked')
  return videoFailed('The operation ended without a video.', 'video_generation_failed')
}

function uriOf(result: JsonObject): string | null {
  const [sample] = listOf(result['generatedSamples'])
  const video: JsonValue | undefined = objectOf(sample)['video']
  return text(objectOf(video)['uri'])
}

// The sandbox's videos: jobs whose state follows from what is stored of them, so that any process can continue them.

import { MediaFault } from '../../media.ts'
import type { VideoAdapter, VideoJob } from '../../video.ts'
import { parseSandboxModel, type SandboxSettings } from '../settings.ts'
import { beforeReply } from './faults.ts'
import { mp4 } from './mp4.ts'
import { png } from './png.ts'
import { sceneOf } from './scene.ts'

/** How long a video takes, where its model's name has no `+first=`. */
const makingMs = 400
const queuedMs = 100
const pollAfterMs = 100

export const sandboxVideos: VideoAdapter = {
  async start({ model, fields }, tools) {
    const settings = settingsOf(model)
    // These faults occur later, in the job; the others make its start fail.
    if (!later.has(settings.fault)) await beforeReply({ ...settings, firstMs: 0 }, tools)
    const prompt = String(fields['prompt'])
    return { handle: `sandbox-${tools.nowMs}`, kept: { at: tools.nowMs, prompt }, pollAfterMs }
  },
  async poll(job, { nowMs }) {
    const { fault, firstMs } = settingsOf(job.model)
    const allMs = firstMs > 0 ? firstMs : makingMs
    const begunMs = nowMs - Number(job.kept['at'])
    // One that begins in the future was begun while the clock was ahead, and is done.
    const sinceMs = begunMs < 0 ? allMs : begunMs
    if (fault === 'hang') return { state: 'running', progress: 1, pollAfterMs }
    if (sinceMs < queuedMs) return { state: 'running', queued: true, pollAfterMs }
    if (sinceMs < allMs) {
      return { state: 'running', progress: Math.floor((99 * sinceMs) / allMs), pollAfterMs }
    }
    if (fault !== 'error-event') return { state: 'completed' }
    return {
      state: 'failed',
      code: 'video_generation_failed',
      message: 'sandbox fault: the job failed',
    }
  },
  async content(job, variant, tools) {
    if (settingsOf(job.model).fault === 'empty')
      throw new MediaFault({ kind: 'vendor_error', status: 404, message: 'sandbox fault: expired' })
    const { width, height } = frameOf(job)
    const text = String(job.kept['prompt'])
    const [bytes, type] =
      variant === 'video'
        ? [mp4(text, { width, height, seconds: job.seconds }), 'video/mp4']
        : [png(sceneOf(text), { width, height }), 'image/png']
    return { payload: tools.spool.inMemory(bytes, type) }
  },
  // Nothing runs anywhere.
  cancel: () => Promise.resolve(),
  async remix({ model, kept }, prompt, tools) {
    settingsOf(model)
    const text = `${String(kept['prompt'])}; ${prompt}`
    return {
      handle: `sandbox-${tools.nowMs}`,
      kept: { at: tools.nowMs, prompt: text },
      pollAfterMs,
    }
  },
}

const later: ReadonlySet<SandboxSettings['fault']> = new Set(['hang', 'error-event', 'empty'])

function settingsOf(model: string): SandboxSettings {
  const settings = parseSandboxModel(model)
  if (settings?.model === 'sandbox/video') return settings
  const message = `the sandbox has no model '${model}' for videos, only sandbox/video`
  throw new MediaFault({ kind: 'unknown_model', message })
}

function frameOf({ size }: VideoJob): { readonly width: number; readonly height: number } {
  const [width = 720, height = 1280] = size.split('x').map(Number)
  return { width, height }
}

// The page's data that the browser stores for each account: settings, typed text, and the conversations.

import { conversationsKey } from '../../state/conversations.ts'
import { isRunning, type Message, noSettings, type Settings } from './chat.ts'

export interface Draft {
  readonly settings: Settings
  readonly text: string
  /** For each column. */
  readonly conversations: readonly (readonly Message[])[]
}

export const noDraft: Draft = { settings: noSettings, text: '', conversations: [] }

/** Whether it has anything that a person would miss. */
export function isWorthKeeping({ settings, text, conversations }: Draft): boolean {
  const typed = `${text}${settings.system}`
  return typed.trim() !== '' || conversations.some(({ length }) => length > 0)
}

/** Characters; browsers keep a few million for all pages together. */
const mostLength = 400_000

/** Invalid parts are left out. */
export function loadDraft(account: string): Draft {
  try {
    const kept = JSON.parse(localStorage.getItem(conversationsKey(account)) ?? '{}')
    return {
      settings: { ...noSettings, ...kept.settings },
      text: String(kept.text ?? ''),
      conversations: Array.isArray(kept.conversations) ? kept.conversations : [],
    }
  } catch {
    return noDraft
  }
}

/** Without the bytes of attachments; if it is too long, without the conversations. */
export function keepDraft(account: string, { settings, text, conversations }: Draft): void {
  const kept = {
    settings,
    text,
    conversations: conversations.map((each) => each.map(withoutBytes)),
  }
  const whole = JSON.stringify(kept)
  const shorter = whole.length <= mostLength ? whole : JSON.stringify({ settings, text })
  try {
    if (shorter.length <= mostLength) localStorage.setItem(conversationsKey(account), shorter)
  } catch {
    // Storage may be full or denied: the draft then lasts as long as the page.
  }
}

function withoutBytes(message: Message): Message {
  if (message.kind === 'user') {
    const attachments = message.attachments.map(({ name }) => ({ name, part: null, preview: null }))
    return { ...message, attachments }
  }
  return stopped(message)
}

/** An answer that was arriving arrives no more. */
export function stopped(message: Message): Message {
  return message.kind === 'assistant' && isRunning(message)
    ? { ...message, state: 'stopped' }
    : message
}

// The state of this page: conversations side by side, answers as they stream in, and the draft in the browser.

import { type Dispatch, type SetStateAction, useCallback, useEffect, useRef, useState } from 'react'
import { randomId } from '../../api/client.ts'
import { meQuery, queryClient } from '../../api/queries.ts'
import { conversationsKey } from '../../state/conversations.ts'
import { streamChat } from './call.ts'
import {
  type Answer,
  type Attachment,
  chatBody,
  isRunning,
  type Message,
  type Settings,
  type UserMessage,
} from './chat.ts'
import { type Draft, isWorthKeeping, keepDraft, loadDraft, noDraft, stopped } from './draft.ts'

interface Asked {
  readonly account: string
  readonly models: readonly string[]
  readonly group: string | undefined
}

export type Playground = ReturnType<typeof usePlayground>

export function usePlayground(asked: Asked) {
  const { models } = asked
  const [draft, setDraft, holdsText] = useDraft(asked.account)
  const { begin, stop } = useAnswers(asked, draft, setDraft)
  /** Replaces all of it. */
  const load = useCallback(
    (next: Draft) => {
      stop()
      setDraft(next)
    },
    [stop, setDraft],
  )
  const conversationOf = (place: number) => draft.conversations[place] ?? []
  const run = (place: number, messages: readonly Message[]) => {
    // The answer that it replaces may still be arriving.
    for (const { id } of conversationOf(place)) stop(id)
    begin(place, messages)
  }
  const setConversation = (place: number, messages: readonly Message[]) =>
    setDraft((before) => withConversation(before, place, messages))
  return {
    draft,
    conversationOf,
    isRunning: draft.conversations.some((each) => each.some(isRunning)),
    /** Stops all running answers, or one. */
    stop,
    load,
    /** Whether `load` would replace anything that a person would miss. */
    holdsText,
    setText: (text: string) => setDraft((before) => ({ ...before, text })),
    setSettings: (change: Partial<Settings>) =>
      setDraft((before) => ({ ...before, settings: { ...before.settings, ...change } })),
    /** One message to all models. */
    send(attachments: readonly Attachment[]) {
      const message: UserMessage = { kind: 'user', id: randomId(), text: draft.text, attachments }
      setDraft((before) => ({ ...before, text: '' }))
      for (const place of models.keys()) run(place, [...conversationOf(place), message])
    },
    /** Repeats the answer, or makes the first one to the last message. */
    answerAgain(place: number, id?: string) {
      const messages = conversationOf(place)
      const at = messages.findIndex((each) => each.id === id)
      run(place, at < 0 ? messages : messages.slice(0, at))
    },
    answerTools(place: number, answer: Answer, results: readonly string[]) {
      const said = answer.calls.map(({ id: callId, name }, index) => {
        return { kind: 'tool', id: randomId(), callId, name, text: results[index] ?? '' } as const
      })
      run(place, [...conversationOf(place), ...said])
    },
    /** Replaces a person's message in all columns. `again`: later messages are removed, and it is answered again. */
    edit(id: string, text: string, again: boolean) {
      for (const [place, messages] of draft.conversations.entries()) {
        const at = messages.findIndex((each) => each.id === id)
        const edited = changed(messages, id, { text })
        if (at >= 0 && again && place < models.length) run(place, edited.slice(0, at + 1))
        else setConversation(place, edited)
      }
    },
    remove: (id: string) => setDraft((before) => without(before, id)),
    ...columnsOf({ models, draft, setDraft, stop, setConversation }),
  }
}

type SetDraft = Dispatch<SetStateAction<Draft>>

interface Columns {
  readonly models: readonly string[]
  readonly draft: Draft
  readonly setDraft: SetDraft
  readonly stop: (id?: string) => void
  readonly setConversation: (place: number, messages: readonly Message[]) => void
}

/** What adds and removes whole conversations. */
function columnsOf({ models, draft, setDraft, stop, setConversation }: Columns) {
  return {
    /** Adds a column with the questions of the first; its last question waits for an answer. */
    addColumn() {
      const [first = []] = draft.conversations
      const last = first.findLastIndex(({ kind }) => kind === 'user')
      setConversation(models.length, first.slice(0, last + 1))
    },
    removeColumn(place: number) {
      for (const message of draft.conversations[place] ?? []) stop(message.id)
      setDraft((before) => ({
        ...before,
        conversations: before.conversations.filter((_, index) => index !== place),
      }))
    },
    /** Returns a function that brings the conversations back, unless there are new ones. */
    clear() {
      stop()
      const conversations = draft.conversations.map((each) => each.map(stopped))
      setDraft((before) => ({ ...before, conversations: [] }))
      return () =>
        setDraft((now) =>
          now.conversations.some(({ length }) => length > 0) ? now : { ...now, conversations },
        )
    },
  }
}

/** Answers as they stream in. */
function useAnswers({ models, group }: Asked, { settings }: Draft, setDraft: SetDraft) {
  const running = useRef(new Map<string, AbortController>())
  useEffect(() => {
    const all = running.current
    // Leaving the page stops them, so that nothing more is charged.
    return () => {
      for (const leave of all.values()) leave.abort()
    }
  }, [])
  function begin(place: number, before: readonly Message[]) {
    const model = models[place] ?? ''
    const answer = newAnswer(model)
    const leave = new AbortController()
    running.current.set(answer.id, leave)
    setDraft((now) => withConversation(now, place, [...before, answer]))
    const body = chatBody(model, before, settings)
    const tell = (change: Partial<Answer>) =>
      setDraft((now) => ({
        ...now,
        conversations: now.conversations.map((each) => changed(each, answer.id, change)),
      }))
    void streamChat({ body, group, signal: leave.signal }, tell).then(() =>
      running.current.delete(answer.id),
    )
  }
  const stop = useCallback((id?: string) => {
    for (const [each, leave] of running.current) if (id === undefined || each === id) leave.abort()
  }, [])
  return { begin, stop }
}

function useDraft(account: string) {
  const [draft, setDraft] = useState<Draft>(noDraft)
  const latest = useRef(draft)
  const loaded = useRef('')
  latest.current = draft
  useEffect(() => {
    if (account === '') return
    loaded.current = account
    setDraft(loadDraft(account))
  }, [account])
  const keep = useCallback(() => {
    // Whoever signs out leaves none.
    const isSignedIn = queryClient.getQueryData(meQuery.queryKey) !== undefined
    if (isSignedIn && loaded.current !== '' && latest.current !== noDraft)
      keepDraft(loaded.current, latest.current)
  }, [])
  useEffect(() => {
    // Signing out, or deleting all messages, in another tab: this one must not store them again.
    const forget = ({ key, newValue }: StorageEvent) => {
      if (key !== conversationsKey(loaded.current) || newValue !== null) return
      latest.current = noDraft
      setDraft(noDraft)
    }
    addEventListener('storage', forget)
    return () => removeEventListener('storage', forget)
  }, [])
  useEffect(() => {
    if (draft === noDraft) return
    const timer = setTimeout(keep, 400)
    return () => clearTimeout(timer)
  }, [draft, keep])
  useEffect(() => {
    addEventListener('pagehide', keep)
    return () => {
      removeEventListener('pagehide', keep)
      keep()
    }
  }, [keep])
  const holdsText = useCallback(() => isWorthKeeping(latest.current), [])
  return [draft, setDraft, holdsText] as const
}

function newAnswer(model: string): Answer {
  return {
    kind: 'assistant',
    id: randomId(),
    model,
    text: '',
    reasoning: '',
    calls: [],
    state: 'waiting',
    requestId: null,
    failure: null,
  }
}

function changed(
  messages: readonly Message[],
  id: string,
  change: Partial<Answer>,
): readonly Message[] {
  return messages.some((each) => each.id === id)
    ? messages.map((each) => (each.id === id ? ({ ...each, ...change } as Message) : each))
    : messages
}

function withConversation(draft: Draft, place: number, messages: readonly Message[]): Draft {
  const { conversations } = draft
  const length = Math.max(conversations.length, place + 1)
  const all = Array.from({ length }, (_, index) =>
    index === place ? messages : (conversations[index] ?? []),
  )
  return { ...draft, conversations: all }
}

function without(draft: Draft, id: string): Draft {
  const { conversations } = draft
  return {
    ...draft,
    conversations: conversations.map((each) => each.filter((message) => message.id !== id)),
  }
}

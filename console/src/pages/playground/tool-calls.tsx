// The tool calls of a model, and fields for their results.

import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { Badge } from '../../ui/values.tsx'
import type { ToolCall } from './chat.ts'

interface ToolCallsProps {
  readonly calls: readonly ToolCall[]
  /** Left out: they are answered, or it is too late. */
  readonly onSend: ((results: readonly string[]) => void) | undefined
}

export function ToolCalls({ calls, onSend }: ToolCallsProps) {
  const { t } = useLingui()
  const [results, setResults] = useState<readonly string[]>([])
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        onSend?.(results)
      }}
    >
      {calls.map((call, place) => (
        <div key={call.id || place} className="rounded-control border border-border">
          <p className="flex flex-wrap items-center gap-2 px-2 py-1">
            <Badge tone="info">
              <Trans>Tool call</Trans>
            </Badge>
            <code className="font-mono text-code">{call.name}</code>
          </p>
          <pre
            tabIndex={0}
            role="region"
            aria-label={t`What ${call.name} is given`}
            className="max-h-60 overflow-auto border-t border-border p-2 font-mono text-code"
          >
            {indented(call.arguments)}
          </pre>
          {onSend !== undefined && (
            <div className="border-t border-border p-2">
              <Field label={t`What ${call.name} gives back`}>
                <TextArea
                  rows={2}
                  className="font-mono"
                  value={results[place] ?? ''}
                  onChange={({ target }) =>
                    setResults((before) =>
                      calls.map((_, at) => (at === place ? target.value : (before[at] ?? ''))),
                    )
                  }
                />
              </Field>
            </div>
          )}
        </div>
      ))}
      {onSend !== undefined && (
        <Button type="submit" className="self-start">
          <Trans>Send the results</Trans>
        </Button>
      )}
    </form>
  )
}

/** Arguments may be cut off, and are then not valid JSON. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

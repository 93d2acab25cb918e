// The vendor's own list of models, to choose from.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Shape } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox, Field, Input } from '../../ui/field.tsx'
import { useKindName } from '../../ui/model-kind.tsx'
import { Count } from '../../ui/values.tsx'

type Model = Shape<'VendorModels'>['models'][number]

/** The maximum number that is drawn, since some vendors have hundreds. */
const mostShown = 200

interface VendorModelsProps {
  readonly models: readonly Model[]
  /** By the vendor's names. */
  readonly chosen: ReadonlySet<string>
  readonly onToggle: (model: string, isChosen: boolean) => void
  readonly onClose: () => void
}

export function VendorModels({ models, chosen, onToggle, onClose }: VendorModelsProps) {
  const { t } = useLingui()
  const [text, setText] = useState('')
  const found = models.filter(({ model }) => model.toLowerCase().includes(text.toLowerCase()))
  const total = models.length
  return (
    <section
      aria-label={t`The vendor’s list`}
      className="flex flex-col gap-3 rounded-card border border-border bg-sunken p-3"
    >
      <div className="flex items-end gap-2">
        <div className="flex-1">
          <Field
            label={
              <Plural
                value={total}
                one="The vendor’s list: # model"
                other="The vendor’s list: # models"
              />
            }
          >
            <Input
              type="search"
              value={text}
              placeholder={t`Search`}
              onChange={(event) => setText(event.target.value)}
              onKeyDown={(event) => {
                // It would send the form that this stands in.
                if (event.key === 'Enter') event.preventDefault()
              }}
            />
          </Field>
        </div>
        <Button variant="quiet" onClick={onClose}>
          <Trans>Close</Trans>
        </Button>
      </div>
      <ul className="flex max-h-72 flex-col gap-2 overflow-y-auto">
        {found.slice(0, mostShown).map((each) => (
          <li key={each.model}>
            <Checkbox
              label={<code className="font-mono text-code break-all">{each.model}</code>}
              hint={<About model={each} />}
              checked={chosen.has(each.model)}
              onChange={({ target }) => onToggle(each.model, target.checked)}
            />
          </li>
        ))}
      </ul>
      {found.length === 0 && (
        <p className="text-text-2">
          <Trans>There is no model of this name.</Trans>
        </p>
      )}
      {found.length > mostShown && (
        <p className="text-text-2">
          <Trans>The first {mostShown} are shown: search for others.</Trans>
        </p>
      )}
    </section>
  )
}

function About({ model: { kind, context, problem } }: { readonly model: Model }) {
  const kindName = useKindName()
  return (
    <>
      {kindName(kind)}
      {context !== null && (
        <>
          {' · '}
          <Trans>
            <Count pad={false} value={context} /> tokens of context
          </Trans>
        </>
      )}
      {problem !== null && <span className="text-warning"> · {problem}</span>}
    </>
  )
}

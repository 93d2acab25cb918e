// A secret, shown only once: to copy, with configurations ready to paste.

import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { ClientSetup } from '../../clients/client-setup.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Copy } from '../../ui/values.tsx'

interface ShownOnceProps {
  readonly made: { readonly name: string; readonly secret: string; readonly group?: string }
  readonly onClose: () => void
}

/** It closes only by its button, once the person confirms that the secret is stored. */
export function ShownOnce({ made, onClose }: ShownOnceProps) {
  const { t } = useLingui()
  const [isSaved, setSaved] = useState(false)
  const [client, setClient] = useState<string>()
  const [model, setModel] = useState<string>()
  return (
    <Dialog
      wide
      keep
      title={<Trans>Save the secret of {made.name}</Trans>}
      onClose={() => {
        if (isSaved) onClose()
      }}
      footer={
        <div className="flex w-full flex-wrap items-center justify-between gap-3">
          <Checkbox
            label={t`I saved it`}
            checked={isSaved}
            onChange={(event) => setSaved(event.target.checked)}
          />
          <Button variant="primary" disabled={!isSaved} onClick={onClose}>
            <Trans>Done</Trans>
          </Button>
        </div>
      }
    >
      <div className="flex flex-col gap-5">
        <p>
          <Trans>
            This is the only time it is shown. The gateway keeps no more than its hash: who loses it
            rotates the key.
          </Trans>
        </p>
        <Secret text={made.secret} />
        {made.group !== undefined && (
          <section className="flex flex-col gap-3">
            <h3 className="text-section">
              <Trans>Ready to paste</Trans>
            </h3>
            <ClientSetup
              secret={made.secret}
              group={made.group}
              client={client}
              onClient={setClient}
              model={model}
              onModel={setModel}
            />
          </section>
        )}
      </div>
    </Dialog>
  )
}

export function Secret({ text }: { readonly text: string }) {
  const { t } = useLingui()
  return (
    <p className="flex items-center justify-between gap-2 rounded-card border border-warning/50 bg-warning-tint py-1.5 pr-1.5 pl-3">
      <code className="min-w-0 font-mono text-code break-all" data-secret>
        {text}
      </code>
      <Copy text={text} label={t`Copy the secret`} />
    </p>
  )
}

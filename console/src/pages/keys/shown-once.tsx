// A secret, shown only once: to copy, with configurations ready to paste.

import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { ClientSetup } from '../../clients/client-setup.tsx'
import { OnceDialog } from '../../ui/once-dialog.tsx'
import { Copy } from '../../ui/values.tsx'

interface ShownOnceProps {
  readonly made: { readonly name: string; readonly secret: string; readonly group?: string }
  readonly onClose: () => void
}

export function ShownOnce({ made, onClose }: ShownOnceProps) {
  const [client, setClient] = useState<string>()
  const [model, setModel] = useState<string>()
  return (
    <OnceDialog wide title={<Trans>Save the secret of {made.name}</Trans>} onClose={onClose}>
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
    </OnceDialog>
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

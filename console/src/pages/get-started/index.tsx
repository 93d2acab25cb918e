// Get started: make a key, set a client up, and see its first request arrive.

import { Trans } from '@lingui/react/macro'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ClientSetup } from '../../clients/client-setup.tsx'
import type { Catalog } from '../../i18n.ts'
import { Page } from '../../ui/page.tsx'
import { FirstKey, type HeldKey } from './first-key.tsx'
import { Listening } from './listening.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

export default function GetStartedPage() {
  const { client, model } = useSearch({ from: '/shell/get-started' })
  const navigate = useNavigate({ from: '/get-started' })
  // Only in this tab's memory, so it is gone with the page.
  const [held, setHeld] = useState<HeldKey | null>(null)
  return (
    <Page
      title={<Trans>Get started</Trans>}
      purpose={
        <Trans>Three steps to the first answer. This page sees your first request arrive.</Trans>
      }
    >
      <ol className="flex flex-col gap-4">
        <Step number={1} title={<Trans>Get a key</Trans>}>
          <FirstKey held={held} onHeld={setHeld} />
        </Step>
        <Step number={2} title={<Trans>Set up your client</Trans>}>
          <ClientSetup
            secret={held?.secret ?? null}
            group={held?.group}
            client={client}
            onClient={(id) =>
              void navigate({ search: (now) => ({ ...now, client: id }), replace: true })
            }
            model={model}
            onModel={(name) =>
              void navigate({ search: (now) => ({ ...now, model: name }), replace: true })
            }
          />
        </Step>
        <Step number={3} title={<Trans>Send a request</Trans>}>
          <Listening keyId={held?.id ?? null} />
        </Step>
      </ol>
    </Page>
  )
}

interface StepProps {
  readonly number: number
  readonly title: ReactNode
  readonly children: ReactNode
}

function Step({ number, title, children }: StepProps) {
  return (
    <li className="min-w-0 rounded-card border border-border bg-surface p-4 md:flex md:gap-4">
      <div className="mb-3 flex items-center gap-3 md:mb-0 md:w-56 md:shrink-0 md:items-start">
        <span
          aria-hidden="true"
          className="flex size-6 shrink-0 items-center justify-center rounded-full bg-primary text-label text-on-primary"
        >
          {number}
        </span>
        <h2 className="text-section">{title}</h2>
      </div>
      <div className="min-w-0 flex-1">{children}</div>
    </li>
  )
}

// One model beside the list: its facts and abilities, prices and recent figures, and how to call it.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { read } from '../../api/client.ts'
import { useMe } from '../../api/queries.ts'
import { Buttons, buttonClass } from '../../ui/button.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { KindName, useKindName } from '../../ui/model-kind.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import { Count, Id, None, Time } from '../../ui/values.tsx'
import { vendorName } from '../../ui/vendor-name.ts'
import { Abilities, abilitiesOf } from './abilities.tsx'
import { FirstToken, Speed, Success } from './measured.tsx'
import { PriceHistory } from './price-history.tsx'
import { PriceTable } from './price-table.tsx'
import type { Model } from './queries.ts'
import { Snippets } from './snippets.tsx'
import { StatusOfModel } from './status.tsx'

interface ModelDrawerProps {
  readonly id: string
  readonly group: string | undefined
  readonly onClose: () => void
  readonly onPrevious?: (() => void) | undefined
  readonly onNext?: (() => void) | undefined
}

export function ModelDrawer({ id, group, ...rest }: ModelDrawerProps) {
  const { t } = useLingui()
  const query = group === undefined ? {} : { group }
  const model = useQuery(read('/api/models/{id}', { params: { path: { id }, query } }))
  return (
    <Drawer {...rest} label={t`Model ${id}`} header={<Id whole value={id} />}>
      <Widget query={model} skeleton={<Skeleton rows={8} />}>
        {(data) => (
          <div className="flex flex-col gap-6">
            <Description model={data} />
            <Actions model={data} />
            <Facts model={data} />
            <PriceTable model={data} />
            <PriceHistory model={data} />
            <Snippets model={data} />
            <StatusOfModel model={data} />
          </div>
        )}
      </Widget>
    </Drawer>
  )
}

/** From what is known of it: the catalogue has no texts of its maker. */
function Description({ model }: { readonly model: Model }) {
  const { i18n } = useLingui()
  const names = useModalityText()
  const kindName = useKindName()
  const list = new Intl.ListFormat(i18n.locale, { type: 'conjunction' })
  const words = (all: readonly string[]) => list.format(all.map((each) => names[each] ?? each))
  const takes = words(model.inputs)
  const gives = words(model.outputs)
  const vendor = vendorName(model.vendor)
  const kind = kindName(model.kind)
  return (
    <p className="text-text-2">
      {gives === '' ? (
        <Trans>
          A model of {vendor} for {kind}: it takes {takes}.
        </Trans>
      ) : (
        <Trans>
          A model of {vendor} for {kind}: it takes {takes} and gives {gives}.
        </Trans>
      )}{' '}
      <Trans>
        Offered here since <Time relative at={model.since} />.
      </Trans>
    </p>
  )
}

function useModalityText(): Readonly<Record<string, string>> {
  const { t } = useLingui()
  return { text: t`text`, image: t`images`, audio: t`sound`, video: t`videos` }
}

function Actions({ model }: { readonly model: Model }) {
  const me = useMe()
  if (!me) return null
  return (
    <Buttons>
      {['chat', 'image', 'speech'].includes(model.kind) && (
        <Link to="/playground" search={{ model: [model.id] }} className={buttonClass()}>
          <Trans>Try in the playground</Trans>
        </Link>
      )}
      <Link to="/get-started" className={buttonClass()}>
        <Trans>Set up a client</Trans>
      </Link>
      <Link to="/requests" search={{ model: model.id }} className={buttonClass()}>
        <Trans>Requests to it</Trans>
      </Link>
    </Buttons>
  )
}

function Facts({ model }: { readonly model: Model }) {
  const { live, context, maxOutput } = model
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 md:grid-cols-3">
      <Fact name={<Trans>Vendor</Trans>}>{vendorName(model.vendor)}</Fact>
      <Fact name={<Trans>Kind</Trans>}>
        <KindName kind={model.kind} />
      </Fact>
      <Fact name={<Trans>Can</Trans>}>
        {abilitiesOf(model).length === 0 ? <None /> : <Abilities model={model} />}
      </Fact>
      <Fact name={<Trans>Context</Trans>}>
        {context === null ? <None /> : <Count pad={false} value={context} />}
      </Fact>
      <Fact name={<Trans>Longest answer</Trans>}>
        {maxOutput === null ? <None /> : <Count pad={false} value={maxOutput} />}
      </Fact>
      <Fact name={<Trans>Groups</Trans>}>{model.groups.join(', ')}</Fact>
      <Fact name={<Trans>First token, p50 and p95</Trans>}>
        <FirstToken live={live} />
      </Fact>
      <Fact name={<Trans>Tokens/s</Trans>}>
        <Speed live={live} />
      </Fact>
      <Fact name={<Trans>Success, 24 h</Trans>}>
        <Success live={live} />
      </Fact>
      <Fact wide name={<Trans>Endpoints</Trans>}>
        <span className="flex flex-wrap gap-x-3 font-mono text-code">
          {model.endpoints.map((endpoint) => (
            <span key={endpoint}>{endpoint}</span>
          ))}
        </span>
      </Fact>
    </dl>
  )
}

interface FactProps {
  readonly name: ReactNode
  /** The whole row. */
  readonly wide?: boolean
  readonly children: ReactNode
}

function Fact({ name, wide = false, children }: FactProps) {
  return (
    <div className={wide ? 'col-span-full' : 'min-w-0'}>
      <dt className="text-label text-text-2">{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

// The form for a new order: the amount, what it buys, and the provider.

import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'
import { change, Problem, randomId, type Shape } from '../../api/client.ts'
import { decimalText, isAmount } from '../../format.ts'
import { amountProblem } from '../../ui/bounds.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Segments } from '../../ui/field.tsx'
import { useMethodName } from '../../ui/method-name.ts'
import { Card } from '../../ui/page.tsx'
import { useProviderName } from '../../ui/provider-name.tsx'
import { ProblemLine } from '../../ui/state.tsx'
import { Money, ProviderMoney } from '../../ui/values.tsx'
import { Buys } from './buys.tsx'
import { fittingMethods, isPhone } from './methods.ts'

type Offer = Shape<'PaymentOffer'>
type Provider = Offer['providers'][number]
type Credited = Provider['presets'][number]

const route = getRouteApi('/shell/billing/top-up')

export function Choose({ offer }: { readonly offer: Offer }) {
  const { t } = useLingui()
  const search = route.useSearch()
  const navigate = useNavigate()
  const nameOf = useProviderName()
  const provider =
    offer.providers.find(({ name }) => name === search.provider) ?? offer.providers[0]
  const amount = search.amount ?? provider?.presets[0]?.amount ?? offer.minimum
  const set = (next: { amount?: string | undefined; provider?: string }) =>
    void navigate({ to: '.', replace: true, search: (before) => ({ ...before, ...next }) })
  if (provider === undefined) return null
  const credited =
    provider.presets.find((each) => each.amount === amount) ??
    (provider.asked?.amount === amount ? provider.asked : undefined)
  return (
    <div className="grid gap-6 lg:grid-cols-[3fr_2fr]">
      <Card title={<Trans>How much</Trans>}>
        <div className="flex flex-col gap-4">
          {offer.providers.length > 1 && (
            <Segments
              label={t`Pay by`}
              value={provider.name}
              options={offer.providers.map(({ name }) => ({ value: name, label: nameOf(name) }))}
              onChange={(name) => set({ provider: name })}
            />
          )}
          <Amount
            key={provider.currency}
            offer={offer}
            provider={provider}
            amount={amount}
            onChange={set}
          />
        </div>
      </Card>
      <Card title={<Trans>What you get</Trans>}>
        <Summary offer={offer} provider={provider} amount={amount} credited={credited} />
      </Card>
    </div>
  )
}

interface AmountProps {
  readonly offer: Offer
  readonly provider: Provider
  readonly amount: string
  readonly onChange: (next: { amount: string | undefined }) => void
}

function Amount(props: AmountProps) {
  const { provider, amount, onChange } = props
  const isPreset = provider.presets.some((each) => each.amount === amount)
  const [typed, setTyped] = useState(isPreset ? '' : amount)
  return (
    <>
      <Presets
        {...props}
        onChange={(next) => {
          setTyped('')
          onChange(next)
        }}
      />
      <OwnAmount
        {...props}
        typed={typed}
        onType={(text) => {
          setTyped(text)
          // If it is emptied, the amount is the first of the presets again.
          onChange({ amount: text.trim() || undefined })
        }}
      />
    </>
  )
}

function Presets({ offer, provider, amount, onChange }: AmountProps) {
  const { t } = useLingui()
  const name = useId()
  return (
    <fieldset className="grid min-w-0 grid-cols-2 gap-2 md:grid-cols-4">
      <legend className="sr-only">{t`Amount`}</legend>
      {provider.presets.map((preset) => (
        <label
          key={preset.amount}
          className="flex min-h-11 flex-col justify-center rounded-control border border-border-strong/50 px-3 py-2 has-checked:border-accent has-checked:bg-sunken has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name={name}
            className="sr-only"
            checked={preset.amount === amount}
            onChange={() => onChange({ amount: preset.amount })}
          />
          <span className="tabular text-section">
            <ProviderMoney amount={preset.amount} currency={provider.currency} />
          </span>
          {BigInt(preset.bonusNano) > 0n && (
            <span className="text-label font-normal text-success">
              <Trans>
                + <Money nano={preset.bonusNano} currency={offer.currency} /> bonus
              </Trans>
            </span>
          )}
        </label>
      ))}
    </fieldset>
  )
}

interface OwnAmountProps extends Pick<AmountProps, 'offer' | 'provider'> {
  readonly typed: string
  readonly onType: (text: string) => void
}

function OwnAmount({ offer, provider, typed, onType }: OwnAmountProps) {
  const { i18n } = useLingui()
  const least = decimalText(offer.minimum, i18n.locale)
  const most = decimalText(offer.maximum, i18n.locale)
  return (
    <Field
      label={<Trans>Another amount</Trans>}
      hint={
        <Trans>
          From {least} to {most} {provider.currency}.
        </Trans>
      }
      error={typed === '' ? undefined : amountProblem(typed, boundsOf(offer))}
    >
      <Input
        inputMode="decimal"
        autoComplete="off"
        unit={provider.currency}
        value={typed}
        onChange={({ target }) => onType(target.value)}
      />
    </Field>
  )
}

function boundsOf({ minimum, maximum }: Offer) {
  return { least: minimum, most: maximum, decimals: 2 }
}

interface SummaryProps {
  readonly offer: Offer
  readonly provider: Provider
  readonly amount: string
  /** undefined: not known, or no amount. */
  readonly credited: Credited | undefined
}

function Summary({ offer, provider, amount, credited }: SummaryProps) {
  const isWrong = !isAmount(amount, boundsOf(offer))
  const bonusNano = BigInt(credited?.bonusNano ?? 0)
  const totalNano = BigInt(credited?.creditNano ?? 0) + bonusNano
  return (
    <div className="flex flex-col gap-4">
      {credited !== undefined && !isWrong && (
        <>
          <dl className="flex flex-col gap-2">
            <Line name={<Trans>Credit</Trans>}>
              <Money nano={credited.creditNano} currency={offer.currency} />
            </Line>
            {bonusNano > 0n && (
              <Line name={<Trans>Bonus for your first payment</Trans>}>
                <span className="text-success">
                  +<Money nano={bonusNano} currency={offer.currency} />
                </span>
              </Line>
            )}
            {bonusNano > 0n && (
              <Line name={<Trans>In all</Trans>}>
                <strong>
                  <Money nano={totalNano} currency={offer.currency} />
                </strong>
              </Line>
            )}
          </dl>
          {provider.currency !== offer.currency && (
            <p className="text-label font-normal text-text-2">
              <Trans>
                1 {provider.currency} is credited as {provider.rate} {offer.currency}.
              </Trans>
            </p>
          )}
          <Buys nano={totalNano} />
        </>
      )}
      <Pay offer={offer} provider={provider} amount={amount} disabled={isWrong} />
    </div>
  )
}

function Line({ name, children }: { readonly name: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-4">
      <dt className="text-text-2">{name}</dt>
      <dd className="tabular">{children}</dd>
    </div>
  )
}

interface PayProps extends Omit<SummaryProps, 'credited'> {
  readonly disabled: boolean
}

function Pay({ offer, provider, amount, disabled }: PayProps) {
  const { t } = useLingui()
  const navigate = useNavigate()
  const [phone] = useState(isPhone)
  const methods = fittingMethods(provider.methods, phone)
  const [chosen, setChosen] = useState<string | null>(null)
  const method = methods.find((each) => each === chosen) ?? methods[0] ?? ''
  const methodName = useMethodName()
  const nameOf = useProviderName()
  const reason = useId()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Error | null>(null)
  // Pressing again with the same choice gives the same order; a refused one may be tried as a new one.
  const [attempt, setAttempt] = useState(randomId)
  async function pay() {
    setBusy(true)
    setProblem(null)
    const body = { account: offer.account, provider: provider.name, method, amount, attempt }
    try {
      const { id } = await change('post', '/api/orders', {
        body,
        idempotencyKey: attempt + method + amount,
      })
      await navigate({ to: '/billing/top-up', search: { order: id } })
    } catch (error) {
      setProblem(error as Error)
      if (error instanceof Problem && error.status !== 0) setAttempt(randomId())
      setBusy(false)
    }
  }
  return (
    <div className="flex flex-col gap-3">
      {methods.length > 1 && (
        <Segments
          label={t`How`}
          value={method}
          options={methods.map((each) => ({ value: each, label: methodName(each) }))}
          onChange={setChosen}
        />
      )}
      <Button
        variant="primary"
        busy={isBusy}
        disabled={disabled}
        aria-describedby={disabled ? reason : undefined}
        onClick={() => void pay()}
      >
        <Trans>
          Pay {amount} {provider.currency} by {nameOf(provider.name)}
        </Trans>
      </Button>
      {disabled && (
        <p id={reason} role="status" className="text-label font-normal text-text-2">
          <Trans>Correct the amount first.</Trans>
        </p>
      )}
      {problem !== null && <ProblemLine error={problem} />}
    </div>
  )
}

// The fields of a channel: the same to make one and to change one.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { read, readAll, type Shape } from '../../api/client.ts'
import { amountRule, countRule, multiplierBounds, nameRule } from '../../ui/bounds.ts'
import { Checkbox, Field, Input, Segments, Select, TextArea } from '../../ui/field.tsx'
import { vendorName } from '../../ui/vendor-name.ts'
import type { Channel } from './channels.ts'
import { isTexts, jsonArea } from './json.ts'
import { KeyFields } from './key-fields.tsx'
import { ModelFields } from './model-fields.tsx'
import { RequestFields } from './request-fields.tsx'
import type { ChannelForm } from './use-channel-form.ts'
import { timers } from './values.ts'

interface FieldsProps {
  readonly form: ChannelForm
  /** null: it is a new channel. */
  readonly channel: Channel | null
}

export function ChannelFields({ form, channel }: FieldsProps) {
  const { formState, watch } = form
  const { errors, defaultValues } = formState
  const vendors = useQuery({ ...read('/api/vendors'), staleTime: Number.POSITIVE_INFINITY })
  const vendor = vendors.data?.items.find(({ id }) => id === watch('vendor'))
  const isSet = (...names: readonly (keyof typeof errors)[]) =>
    names.some((name) => errors[name] !== undefined)
  const hasTimers = Object.values(defaultValues?.timeouts ?? {}).some((ms) => ms !== '')
  return (
    <div className="flex flex-col gap-6">
      <BasicFields form={form} channel={channel} vendor={vendor} vendors={vendors.data?.items} />
      <KeyFields form={form} channel={channel} needsKey={vendor?.needsKey ?? true} />
      <ModelFields form={form} />
      <RoutingFields form={form} />
      <More
        title={<Trans>What requests carry: parameters and headers</Trans>}
        open={isSet('parameters', 'headers', 'passTrace')}
      >
        <RequestFields form={form} />
      </More>
      <More
        title={<Trans>Cost, format, proxy, options and notes</Trans>}
        open={isSet('costMultiplier', 'dialect', 'proxy', 'options', 'note')}
      >
        <OtherFields form={form} vendor={vendor} />
      </More>
      <More
        title={<Trans>Timers and further attempts</Trans>}
        open={hasTimers || isSet('timeouts', 'retryStatuses')}
      >
        <div className="flex flex-col gap-4">
          <TimerFields form={form} />
          <RetryFields form={form} />
        </div>
      </More>
    </div>
  )
}

export function Part({
  title,
  children,
}: {
  readonly title: ReactNode
  readonly children: ReactNode
}) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-3">
      <legend className="mb-2 text-section">{title}</legend>
      {children}
    </fieldset>
  )
}

interface MoreProps {
  readonly title: ReactNode
  readonly open: boolean
  readonly children: ReactNode
}

/**
 * Fields that most channels do not need; opens if one of them is set or refused, and stays open while that is
 * corrected.
 */
function More({ title, open, children }: MoreProps) {
  const [isOpen, setOpen] = useState(open)
  useEffect(() => {
    if (open) setOpen(true)
  }, [open])
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="rounded-card border border-border"
    >
      <summary className="min-h-9 px-3 py-2 text-label text-text-2">{title}</summary>
      <div className="border-t border-border p-3">{children}</div>
    </details>
  )
}

type Vendor = Shape<'Vendor'>

interface BasicProps extends FieldsProps {
  readonly vendor: Vendor | undefined
  readonly vendors: readonly Vendor[] | undefined
}

function BasicFields({ form: { register, formState }, channel, vendor, vendors }: BasicProps) {
  const { t } = useLingui()
  const { errors, defaultValues } = formState
  const ids = vendors?.map(({ id }) => id) ?? []
  const known = defaultValues?.vendor ?? ''
  const offered = known === '' || ids.includes(known) ? ids : [known, ...ids]
  return (
    <div className="grid gap-4 md:grid-cols-2">
      {channel === null && (
        <Field
          label={t`Name`}
          hint={t`Letters, digits, dots and dashes. It cannot be changed later.`}
          error={errors.id?.message}
        >
          <Input
            autoComplete="off"
            spellCheck={false}
            {...register('id', nameRule(t`Give the channel a name.`))}
          />
        </Field>
      )}
      <Field label={t`Vendor`} error={errors.vendor?.message}>
        <Select {...register('vendor', { required: t`Choose a vendor.` })}>
          <option value="">{t`Choose a vendor`}</option>
          {offered.map((id) => (
            <option key={id} value={id}>
              {vendorName(id)}
            </option>
          ))}
        </Select>
      </Field>
      <div className={channel === null ? 'md:col-span-2' : ''}>
        <Field
          label={t`Base address`}
          hint={
            vendor?.baseUrl === null
              ? t`This vendor has no usual address: enter yours.`
              : t`Empty: the vendor’s usual address.`
          }
          error={errors.baseUrl?.message}
        >
          <Input
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            placeholder={vendor?.baseUrl ?? 'https://…'}
            {...register('baseUrl')}
          />
        </Field>
      </div>
    </div>
  )
}

function RoutingFields({ form }: { readonly form: ChannelForm }) {
  const { t } = useLingui()
  const { register, formState } = form
  const { errors } = formState
  const count = (least: number, most: number) => countRule({ least, most, isOptional: true })
  return (
    <Part title={<Trans>Routing</Trans>}>
      <GroupFields form={form} />
      <div className="grid gap-4 md:grid-cols-3">
        <Field
          label={t`Priority`}
          hint={t`The lowest is tried first.`}
          error={errors.priority?.message}
        >
          <Input inputMode="numeric" {...register('priority', count(-1_000_000, 1_000_000))} />
        </Field>
        <Field
          label={t`Weight`}
          hint={t`Share among channels of equal priority; 0: asked only if no other can serve.`}
          error={errors.weight?.message}
        >
          <Input inputMode="numeric" {...register('weight', count(0, 1_000_000))} />
        </Field>
        <Field
          label={t`At once, each key`}
          hint={t`In each serving process.`}
          error={errors.concurrency?.message}
        >
          <Input
            inputMode="numeric"
            placeholder={t`No limit`}
            {...register('concurrency', count(1, 1_000_000))}
          />
        </Field>
        <Field
          label={t`Requests a minute`}
          hint={t`All keys together; past it other channels serve.`}
          error={errors.limits?.requestsPerMinute?.message}
        >
          <Input
            inputMode="numeric"
            placeholder={t`No limit`}
            {...register('limits.requestsPerMinute', count(1, 1_000_000_000))}
          />
        </Field>
        <Field
          label={t`Tokens a minute`}
          hint={t`Input and output together.`}
          error={errors.limits?.tokensPerMinute?.message}
        >
          <Input
            inputMode="numeric"
            placeholder={t`No limit`}
            {...register('limits.tokensPerMinute', count(1, 1_000_000_000))}
          />
        </Field>
      </div>
      <Field
        label={t`Tags`}
        hint={t`Words by which channels are picked, with commas between.`}
        error={errors.tags?.message}
      >
        <Input autoComplete="off" spellCheck={false} {...register('tags')} />
      </Field>
    </Part>
  )
}

function GroupFields({ form: { watch, setValue, formState } }: { readonly form: ChannelForm }) {
  const { t } = useLingui()
  const groups = useQuery(readAll('/api/configuration/groups'))
  const [mode, chosen] = [watch('groupMode'), watch('groups')]
  const ids = [...new Set([...(groups.data?.items.map(({ id }) => id) ?? []), ...chosen])]
  const dirty = { shouldDirty: true }
  return (
    <div className="flex flex-col gap-2">
      <Segments
        label={t`Groups`}
        value={mode}
        onChange={(next) => setValue('groupMode', next, dirty)}
        options={[
          { value: 'all', label: <Trans>Every group</Trans> },
          { value: 'some', label: <Trans>These groups</Trans> },
        ]}
      />
      {mode === 'some' && (
        <fieldset className="flex flex-wrap gap-x-5 gap-y-2">
          <legend className="sr-only">{t`Groups`}</legend>
          {ids.map((id) => (
            <Checkbox
              key={id}
              label={id}
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                setValue(
                  'groups',
                  target.checked ? [...chosen, id] : chosen.filter((each) => each !== id),
                  dirty,
                )
              }
            />
          ))}
        </fieldset>
      )}
      <Refused message={formState.errors.root?.['groups']?.message} />
    </div>
  )
}

/** Errors that concern several fields together. */
export function Refused({ message }: { readonly message: string | undefined }) {
  if (message === undefined) return null
  return (
    <p role="alert" className="text-label font-normal text-danger">
      {message}
    </p>
  )
}

interface OtherProps {
  readonly form: ChannelForm
  readonly vendor: Vendor | undefined
}

function OtherFields({ form: { register, formState }, vendor }: OtherProps) {
  const { t } = useLingui()
  const { errors, defaultValues } = formState
  const spoken = vendor?.dialects ?? []
  const known = defaultValues?.dialect ?? ''
  const dialects = known === '' || spoken.includes(known as never) ? spoken : [known, ...spoken]
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Field
        label={t`Cost multiplier`}
        hint={t`What you pay of the list price: 0.8 is a discount of 20 %.`}
        error={errors.costMultiplier?.message}
      >
        <Input
          inputMode="decimal"
          {...register('costMultiplier', amountRule({ ...multiplierBounds, isOptional: true }))}
        />
      </Field>
      <Field
        label={t`Format`}
        hint={t`The only format that is used with it.`}
        error={errors.dialect?.message}
      >
        <Select {...register('dialect')}>
          <option value="">{t`Any format of the vendor`}</option>
          {dialects.map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </Select>
      </Field>
      <div className="md:col-span-2">
        <Field
          label={t`Proxy`}
          hint={t`An HTTP proxy that the vendor is reached through; with https it cannot read the messages. *** stands for a password that is stored.`}
          error={errors.proxy?.message}
        >
          <Input
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            placeholder={t`http://USER:PASSWORD@HOST:PORT`}
            {...register('proxy')}
          />
        </Field>
      </div>
      <div className="md:col-span-2">
        <Field
          label={t`Options (JSON)`}
          hint={t`The vendor’s own settings as texts, such as apiVersion of Azure. *** stands for a secret that is stored.`}
          error={errors.options?.message}
        >
          <TextArea
            {...jsonArea}
            {...register('options', {
              validate: (text) =>
                isTexts(text) || t`A JSON object of texts, such as {"apiVersion": "2024-10-21"}.`,
            })}
          />
        </Field>
      </div>
      <div className="md:col-span-2">
        <Field label={t`Note`} hint={t`For operators.`} error={errors.note?.message}>
          <TextArea rows={2} maxLength={1_000} {...register('note')} />
        </Field>
      </div>
    </div>
  )
}

/** A day, in milliseconds. */
const timeoutBounds = { least: 1, most: 86_400_000, isOptional: true }

function TimerFields({ form: { register, formState } }: { readonly form: ChannelForm }) {
  const { t } = useLingui()
  const { errors } = formState
  const names = {
    connectMs: t`Connecting`,
    sendIdleMs: t`The vendor reads nothing of the request`,
    firstEventMs: t`To the first content of a stream`,
    replyMs: t`To the end of a whole reply`,
    idleMs: t`Between two bytes of a stream`,
    semanticIdleMs: t`Between two events with content`,
    totalMs: t`The request, all attempts`,
  }
  return (
    <div className="flex flex-col gap-3">
      <p className="text-text-2">
        <Trans>Empty: as for every channel.</Trans>
      </p>
      <div className="grid gap-4 md:grid-cols-2">
        {timers.map((name) => (
          <Field key={name} label={names[name]} error={errors.timeouts?.[name]?.message}>
            <Input
              inputMode="numeric"
              unit="ms"
              {...register(`timeouts.${name}`, countRule(timeoutBounds))}
            />
          </Field>
        ))}
      </div>
    </div>
  )
}

function RetryFields({ form: { register, formState } }: { readonly form: ChannelForm }) {
  const { t } = useLingui()
  const errors = formState.errors.retryStatuses
  const list = {
    pattern: {
      value: /^[\s,]*([45]\d\d([\s,]+|$))*$/,
      message: t`Write statuses from 400 to 599, such as 400, 451.`,
    },
  }
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Field
        label={t`Try another after, too`}
        hint={t`Statuses of the vendor, such as 400, after which no other channel is tried usually.`}
        error={errors?.add?.message}
      >
        <Input autoComplete="off" {...register('retryStatuses.add', list)} />
      </Field>
      <Field
        label={t`Try no other after`}
        hint={t`Statuses of the vendor, such as 500, that are the client’s answer at once.`}
        error={errors?.remove?.message}
      >
        <Input autoComplete="off" {...register('retryStatuses.remove', list)} />
      </Field>
    </div>
  )
}

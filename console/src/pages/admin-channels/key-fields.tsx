// The keys of a channel: a stored secret is never shown, only replaced, stopped or removed.

import { Trans, useLingui } from '@lingui/react/macro'
import { useFieldArray } from 'react-hook-form'
import { Button, IconButton } from '../../ui/button.tsx'
import { Checkbox, Field, Input } from '../../ui/field.tsx'
import { useAdding } from '../../ui/use-adding.ts'
import { Status } from '../../ui/values.tsx'
import type { Channel } from './channels.ts'
import { Part, Refused } from './form.tsx'
import type { ChannelForm } from './use-channel-form.ts'
import { keyStateWords } from './words.ts'

interface KeyFieldsProps {
  readonly form: ChannelForm
  readonly channel: Channel | null
  readonly needsKey: boolean
}

export function KeyFields({ form, channel, needsKey }: KeyFieldsProps) {
  const { control, formState } = form
  const { fields, append, remove } = useFieldArray({ control, name: 'keys', keyName: 'row' })
  const adding = useAdding()
  const names = fields.map(({ name }) => name)
  return (
    <Part title={<Trans>Keys</Trans>}>
      {fields.length === 0 && (
        <p className="text-text-2">
          {needsKey ? <Trans>It has no key.</Trans> : <Trans>This vendor needs no key.</Trans>}
        </p>
      )}
      {fields.map(({ row, isStored }, index) => (
        <KeyRow
          key={row}
          form={form}
          index={index}
          shown={channel?.keys.find(({ name }) => isStored && name === names[index]) ?? null}
          needsKey={needsKey}
          onRemove={() => adding.afterRemoving(() => remove(index))}
        />
      ))}
      <Refused message={formState.errors.root?.['keys']?.message} />
      <div>
        <Button
          ref={adding.ref}
          icon="plus"
          onClick={() =>
            append({ name: freeName(names), key: '', disabled: false, isStored: false })
          }
        >
          <Trans>Add a key</Trans>
        </Button>
      </div>
    </Part>
  )
}

function freeName(names: readonly string[]): string {
  if (!names.includes('key')) return 'key'
  let number = 2
  while (names.includes(`key-${number}`)) number += 1
  return `key-${number}`
}

interface KeyRowProps {
  readonly form: ChannelForm
  readonly index: number
  /** The stored key; null: it is not stored yet. */
  readonly shown: Channel['keys'][number] | null
  readonly needsKey: boolean
  readonly onRemove: () => void
}

function KeyRow({ form, index, shown, needsKey, onRemove }: KeyRowProps) {
  const { register, formState, watch } = form
  const { t } = useLingui()
  const errors = formState.errors.keys?.[index]
  const name = watch(`keys.${index}.name`)
  return (
    <div className="flex flex-col gap-2 rounded-card border border-border p-3">
      <div className="grid grid-cols-[1fr_auto] items-start gap-2 md:grid-cols-[10rem_1fr_auto]">
        <Field label={t`Name of the key`} error={errors?.name?.message}>
          <Input
            autoComplete="off"
            spellCheck={false}
            readOnly={shown !== null}
            {...register(`keys.${index}.name`, { required: t`Give the key a name.` })}
          />
        </Field>
        <div className="max-md:order-last max-md:col-span-2">
          <Field
            label={shown === null ? t`The vendor’s key` : t`Replace it by`}
            error={errors?.key?.message}
          >
            <Input
              autoComplete="off"
              spellCheck={false}
              className="font-mono"
              placeholder={shown === null ? '' : shown.hint === '' ? '••••' : `••••${shown.hint}`}
              {...register(`keys.${index}.key`, {
                validate: (key) =>
                  shown !== null || !needsKey || key.trim() !== '' || t`Paste the vendor’s key.`,
              })}
            />
          </Field>
        </div>
        <div className="pt-5">
          <IconButton icon="trash" label={t`Remove the key ${name}`} onClick={onRemove} />
        </div>
      </div>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Checkbox label={t`Not used for now`} {...register(`keys.${index}.disabled`)} />
        {shown !== null && (
          <span className="text-cell">
            <Status tone={keyStateWords[shown.state].tone}>
              {t(keyStateWords[shown.state].word)}
            </Status>
          </span>
        )}
      </div>
    </div>
  )
}

// The models of a channel: the shipped ones of its vendor, or a list of public names with the vendor's own names.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useFieldArray } from 'react-hook-form'
import { change, type Shape } from '../../api/client.ts'
import { Button, Buttons, IconButton } from '../../ui/button.tsx'
import { Field, Input, Segments } from '../../ui/field.tsx'
import { Failure } from '../../ui/state.tsx'
import { useAdding } from '../../ui/use-adding.ts'
import { useRefusal } from '../../ui/use-refusal.ts'
import { Part, Refused } from './form.tsx'
import { type ChannelForm, placeOf } from './use-channel-form.ts'
import { bodyOf, type ChannelValues } from './values.ts'
import { VendorModels } from './vendor-models.tsx'

type Vendors = Shape<'VendorModels'>

/** The vendor's own list, queried with the fields typed so far. */
function useVendorList(form: ChannelForm) {
  const { problem, attempt } = useRefusal(form, placeOf)
  const [isBusy, setBusy] = useState(false)
  const [list, setList] = useState<Vendors>()
  async function ask() {
    setBusy(true)
    await attempt(async () => {
      const typed = bodyOf(form.getValues())
      // None is chosen yet, which is why the list is queried.
      const isBare = Object.keys(typed.models ?? {}).length === 0
      const channel = isBare ? { ...typed, models: null } : typed
      setList(await change('post', '/api/channels/vendor-models', { body: { channel } as never }))
    })
    setBusy(false)
  }
  return { list, problem, isBusy, ask }
}

export function ModelFields({ form }: { readonly form: ChannelForm }) {
  const { t } = useLingui()
  const mode = form.watch('modelMode')
  return (
    <Part title={<Trans>Models</Trans>}>
      <Segments
        label={t`Models`}
        value={mode}
        onChange={(next) => form.setValue('modelMode', next, { shouldDirty: true })}
        options={[
          { value: 'shipped', label: <Trans>Those shipped of the vendor</Trans> },
          { value: 'listed', label: <Trans>These models</Trans> },
        ]}
      />
      {mode === 'listed' && <Listed form={form} />}
    </Part>
  )
}

function Listed({ form }: { readonly form: ChannelForm }) {
  const { list, problem, isBusy, ask } = useVendorList(form)
  const [isShown, setShown] = useState(false)
  const { fields, append, remove } = useFieldArray({
    control: form.control,
    name: 'models',
    keyName: 'row',
  })
  const adding = useAdding()
  const rows = form.watch('models')
  function toggle(model: string, isChosen: boolean) {
    if (isChosen) append({ name: model, own: model })
    else remove(rows.flatMap((row, index) => (ownOf(row) === model ? [index] : [])))
  }
  return (
    <>
      {fields.length > 0 && (
        <p className="text-label font-normal text-text-3">
          <Trans>
            Clients ask for the left name, the vendor for the right one. Names may end with a star.
          </Trans>
        </p>
      )}
      {fields.map(({ row }, index) => (
        <ModelRow
          key={row}
          form={form}
          index={index}
          known={list}
          onRemove={() => adding.afterRemoving(() => remove(index))}
        />
      ))}
      <Refused message={form.formState.errors.root?.['models']?.message} />
      <Buttons>
        <Button ref={adding.ref} icon="plus" onClick={() => append({ name: '', own: '' })}>
          <Trans>Add a model</Trans>
        </Button>
        <Button
          busy={isBusy}
          onClick={() => {
            setShown(true)
            void ask()
          }}
        >
          <Trans>Fetch the vendor’s list</Trans>
        </Button>
        {rows.length > 0 && (
          <span className="text-text-2">
            <Plural value={rows.length} one="# model" other="# models" />
          </span>
        )}
      </Buttons>
      {problem !== null && <Failure error={problem} />}
      {isShown && list !== undefined && (
        <VendorModels
          models={list.models}
          chosen={new Set(rows.map(ownOf))}
          onToggle={toggle}
          onClose={() => setShown(false)}
        />
      )}
    </>
  )
}

function ownOf({ name, own }: ChannelValues['models'][number]): string {
  return own.trim() || name.trim()
}

interface ModelRowProps {
  readonly form: ChannelForm
  readonly index: number
  /** The vendor's list, once it was loaded. */
  readonly known: Vendors | undefined
  readonly onRemove: () => void
}

function ModelRow({ form, index, known, onRemove }: ModelRowProps) {
  const { t } = useLingui()
  const { register, formState, watch, getValues } = form
  const row = watch(`models.${index}`)
  const isTwice = (name: string) =>
    name.trim() !== '' &&
    getValues('models').some((other, at) => at < index && other.name.trim() === name.trim())
  const errors = formState.errors.models?.[index]
  return (
    <div className="flex flex-col gap-1">
      <div className="grid grid-cols-[1fr_1fr_auto] items-start gap-2">
        <Field hideLabel label={t`Name for clients`} error={errors?.name?.message}>
          <Input
            autoComplete="off"
            spellCheck={false}
            placeholder={t`Name for clients`}
            {...register(`models.${index}.name`, {
              validate: (name) => !isTwice(name) || t`This name is here twice.`,
            })}
          />
        </Field>
        <Field hideLabel label={t`The vendor’s name`}>
          <Input
            autoComplete="off"
            spellCheck={false}
            placeholder={row?.name || t`The vendor’s name`}
            {...register(`models.${index}.own`)}
          />
        </Field>
        <IconButton icon="close" label={t`Remove ${row?.name ?? ''}`} onClick={onRemove} />
      </div>
      {row !== undefined && known !== undefined && <ModelProblem row={row} known={known} />}
    </div>
  )
}

/** A warning if the vendor's list lacks a model; patterns are not looked up. */
function ModelProblem({
  row,
  known,
}: {
  readonly row: ChannelValues['models'][number]
  readonly known: Vendors
}) {
  const own = ownOf(row)
  if (own === '' || own.endsWith('*')) return null
  const found = known.models.find(({ model }) => model === own)
  if (found !== undefined && found.problem === null) return null
  return (
    <p className="text-label font-normal text-warning">
      {found === undefined ? <Trans>The vendor’s list does not name {own}.</Trans> : found.problem}
    </p>
  )
}

// Fields and headers that a channel adds to or changes in clients' requests.

import { useLingui } from '@lingui/react/macro'
import { Checkbox, Field, TextArea } from '../../ui/field.tsx'
import { isParameters, isTexts, jsonArea } from './json.ts'
import type { ChannelForm } from './use-channel-form.ts'

export function RequestFields({ form }: { readonly form: ChannelForm }) {
  const { t } = useLingui()
  const { register, formState } = form
  const { errors } = formState
  return (
    <div className="flex flex-col gap-4">
      <Field
        label={t`Parameters (JSON)`}
        hint={t`"set" replaces what the client sent, "remove" leaves fields out, "defaults" apply where the client sent nothing. The names are the vendor’s own; a dot leads into an object. Limits on tokens change what is held.`}
        error={errors.parameters?.message}
      >
        <TextArea
          {...jsonArea}
          {...register('parameters', {
            validate: (text) =>
              isParameters(text) ||
              t`A JSON object such as {"set": {"temperature": 0}, "remove": ["logit_bias"], "defaults": {"top_p": 0.9}}.`,
          })}
        />
      </Field>
      <Field
        label={t`Headers (JSON)`}
        hint={t`Sent with every call, in place of the usual ones of the same name. *** stands for a secret that is stored.`}
        error={errors.headers?.message}
      >
        <TextArea
          {...jsonArea}
          {...register('headers', {
            validate: (text) =>
              isTexts(text) || t`A JSON object of texts, such as {"x-team": "ops"}.`,
          })}
        />
      </Field>
      <Checkbox
        label={t`Pass the client’s trace on`}
        hint={t`The vendor is sent the traceparent header, where the client sent one.`}
        {...register('passTrace')}
      />
    </div>
  )
}

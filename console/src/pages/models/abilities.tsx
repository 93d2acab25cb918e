// The known abilities of a model beyond answering.

import { useLingui } from '@lingui/react/macro'
import { Badge } from '../../ui/values.tsx'
import type { Model } from './queries.ts'

export const abilityNames = ['tools', 'vision', 'reasoning', 'jsonSchema'] as const

type AbilityName = (typeof abilityNames)[number]

export function useAbilityText(): Readonly<Record<AbilityName, string>> {
  const { t } = useLingui()
  return {
    tools: t`Tools`,
    vision: t`Vision`,
    reasoning: t`Reasoning`,
    jsonSchema: t`JSON schema`,
  }
}

export function abilitiesOf(model: Model): readonly AbilityName[] {
  return abilityNames.filter((name) => model[name] === true)
}

export function Abilities({ model }: { readonly model: Model }) {
  const texts = useAbilityText()
  const known = abilitiesOf(model)
  if (known.length === 0) return null
  return (
    <span className="inline-flex flex-wrap gap-1">
      {known.map((name) => (
        <Badge key={name}>{texts[name]}</Badge>
      ))}
    </span>
  )
}

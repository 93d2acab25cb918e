// The group's price of each kind of token and unit, including tiers by the length of prompts.

import { Trans } from '@lingui/react/macro'
import { LinePrice, sizeOfLine, useLineName, useUnitText } from '../../ui/model-prices.tsx'
import { Count, Time } from '../../ui/values.tsx'
import type { Model } from './queries.ts'

export function PriceTable({ model }: { readonly model: Model }) {
  const nameOf = useLineName()
  const unitOf = useUnitText()
  const { price, group } = model
  return (
    <section>
      <h3 className="text-section">
        <Trans>Prices of the group {group}</Trans>
      </h3>
      <table className="mt-2 w-full text-cell">
        <tbody>
          {price.lines.map((line) => (
            <tr key={line.name} className="border-b border-border last:border-b-0">
              <th scope="row" className="py-1.5 text-left font-normal">
                {nameOf(line.name)}
                {line.above > 0 && (
                  <span className="ml-2 text-text-2">
                    <Trans>
                      of prompts above <Count pad={false} value={line.above} />
                    </Trans>
                  </span>
                )}
              </th>
              <td className="text-right">
                <LinePrice line={line} model={model} />
              </td>
              <td className="w-px pl-2 whitespace-nowrap text-text-2">
                {unitOf(line.unit, sizeOfLine(line))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="mt-2 text-label font-normal text-text-2">
        <Trans>
          Version {price.version}, × {price.multiplier}, updated{' '}
          <Time relative at={price.updatedAt} />. A request is charged by the prices of the moment
          it was admitted.
        </Trans>
      </p>
    </section>
  )
}

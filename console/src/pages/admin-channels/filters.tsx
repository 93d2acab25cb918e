// The filters of the list of channels, all of which are in the address.

import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Button } from '../../ui/button.tsx'
import { ChoiceFilter } from '../../ui/choice-filter.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { vendorName } from '../../ui/vendor-name.ts'
import { type Channel, useChannels } from './channels.ts'
import type { ChannelsSearch } from './search.ts'
import { stateWords } from './words.ts'

const route = getRouteApi('/shell/admin/channels')
const none: readonly Channel[] = []

export function ChannelFilters() {
  const { t } = useLingui()
  const { search = '', vendor = [], tag = [], state = [] } = route.useSearch()
  const navigate = useNavigate()
  const { data: channels = none } = useChannels()
  const narrow = (next: Partial<ChannelsSearch>, replace = false) =>
    void navigate({ to: '.', replace, search: (now) => ({ ...now, ...next }) })
  const isNarrowed = search !== '' || vendor.length + tag.length + state.length > 0
  return (
    <div data-filter className="flex flex-wrap items-center gap-2">
      <div className="w-64 max-md:w-full">
        <SearchInput
          label={t`Search channels`}
          placeholder={t`Name, model, tag, address…`}
          value={search}
          // Typing replaces the address, so that going back does not go through every letter.
          onChange={(text) => narrow({ search: text }, true)}
        />
      </div>
      <ChoiceFilter
        label={t`Vendor`}
        options={valuesOf(channels, (channel) => [channel.vendor], vendorName)}
        chosen={vendor}
        onChange={(chosen) => narrow({ vendor: chosen })}
      />
      <ChoiceFilter
        label={t`Tag`}
        options={valuesOf(channels, ({ tags }) => tags)}
        chosen={tag}
        onChange={(chosen) => narrow({ tag: chosen })}
      />
      <ChoiceFilter
        label={t`Status`}
        options={Object.entries(stateWords).map(([value, { word }]) => ({ value, label: t(word) }))}
        chosen={state}
        onChange={(chosen) => narrow({ state: chosen })}
      />
      {isNarrowed && (
        <Button
          variant="quiet"
          onClick={() =>
            narrow({ search: undefined, vendor: undefined, tag: undefined, state: undefined })
          }
        >
          <Trans>Clear filters</Trans>
        </Button>
      )}
    </div>
  )
}

function valuesOf(
  channels: readonly Channel[],
  of: (channel: Channel) => readonly string[],
  nameOf = (value: string) => value,
) {
  return [...new Set(channels.flatMap(of))].sort().map((value) => ({ value, label: nameOf(value) }))
}

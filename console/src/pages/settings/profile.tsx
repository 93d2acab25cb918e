// Name, role and the linked providers of the person.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { change, read, type Shape } from '../../api/client.ts'
import { meQuery, type Person } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { KeepDraft } from '../../ui/keep-draft.tsx'
import { Card } from '../../ui/page.tsx'
import { RoleName } from '../../ui/role-name.tsx'
import { Widget } from '../../ui/state.tsx'
import { showProblem, showToast } from '../../ui/toast.tsx'
import { useNewest } from '../../ui/use-newest.ts'
import { sameFields, useRefusal } from '../../ui/use-refusal.ts'
import { Id, Time } from '../../ui/values.tsx'

interface Values {
  readonly name: string
}

const valuesOf = ({ name }: Person): Values => ({ name })

export function Profile({ me }: { readonly me: Person }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const form = useForm({ defaultValues: valuesOf(me) })
  const { problem, attempt, clear } = useRefusal(form, sameFields('name'))
  const newest = useNewest({ form, shown: me, valuesOf, clear })
  const { errors, isDirty, isSubmitting } = form.formState
  async function send({ name }: Values) {
    await attempt(async () => {
      try {
        await change('patch', '/api/me', { body: { name }, ifMatch: newest.base.revision })
      } finally {
        await client.invalidateQueries({ queryKey: meQuery.queryKey })
      }
      form.reset({ name })
      showToast({ text: t`Your name was saved.`, tone: 'info' })
    })
  }
  return (
    <>
      <Card title={<Trans>Profile</Trans>}>
        <form
          onSubmit={(event) => void form.handleSubmit(send)(event)}
          className="flex max-w-md flex-col gap-4"
        >
          <KeepDraft isInTab isDirty={isDirty} />
          <Field label={<Trans>Name</Trans>} error={errors.name?.message}>
            <Input maxLength={200} {...form.register('name')} />
          </Field>
          <FormProblem problem={problem} newest={newest} />
          <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
            <dt className="text-text-2">
              <Trans>Account</Trans>
            </dt>
            <dd>
              <Id whole value={me.id} />
            </dd>
            <dt className="text-text-2">
              <Trans>E-mail</Trans>
            </dt>
            <dd>{me.email ?? <Trans>none known</Trans>}</dd>
            <dt className="text-text-2">
              <Trans>Role</Trans>
            </dt>
            <dd>
              <RoleName role={me.role} />
            </dd>
            <dt className="text-text-2">
              <Trans>Joined</Trans>
            </dt>
            <dd>
              <Time at={me.createdAt} />
            </dd>
          </dl>
          <div>
            <Button
              type="submit"
              variant="primary"
              busy={isSubmitting}
              disabled={!isDirty || newest.isStale}
            >
              <Trans>Save the name</Trans>
            </Button>
          </div>
        </form>
      </Card>
      <Identities />
    </>
  )
}

function Identities() {
  const identities = useQuery(read('/api/me/identities'))
  const providers = useQuery({ ...read('/api/auth/providers'), staleTime: 60_000 })
  const [leaving, setLeaving] = useState<Shape<'Identity'> | null>(null)
  return (
    <Card title={<Trans>Ways to sign in</Trans>}>
      <Widget query={identities}>
        {({ items }) => (
          <>
            {items.length === 0 && (
              <p className="text-text-2">
                <Trans>No sign-in provider is linked: you sign in by one-time links.</Trans>{' '}
                {providers.data?.providers.length !== 0 && (
                  <Trans>Link a provider to sign in without them.</Trans>
                )}
              </p>
            )}
            <ul className="divide-y divide-border">
              {items.map((identity) => (
                <li key={identity.id} className="flex flex-wrap items-center gap-3 py-2">
                  <span className="min-w-0 flex-1">
                    <span className="font-medium">{identity.name || identity.subject}</span>{' '}
                    <span className="text-text-2">{identity.issuer}</span>
                  </span>
                  <Time relative at={identity.usedAt} />
                  <Button
                    variant="danger"
                    disabled={items.length === 1}
                    onClick={() => setLeaving(identity)}
                  >
                    <Trans>Unlink</Trans>
                  </Button>
                </li>
              ))}
            </ul>
            {items.length === 1 && (
              <p className="mt-2 text-label font-normal text-text-3">
                <Trans>The last way to sign in cannot be unlinked: link another one first.</Trans>
              </p>
            )}
          </>
        )}
      </Widget>
      <div className="mt-4 flex flex-wrap gap-2">
        {providers.data?.providers.map(({ id, name }) => (
          <LinkButton key={id} id={id} name={name} />
        ))}
      </div>
      {leaving !== null && <Unlink identity={leaving} onClose={() => setLeaving(null)} />}
    </Card>
  )
}

/** The answer has the provider's address, to which the browser then goes; it returns here afterwards. */
function LinkButton({ id, name }: { readonly id: string; readonly name: string }) {
  const link = useMutation({
    mutationFn: () => {
      const params = { path: { provider: id }, query: { 'return-to': '/console/settings' } }
      return change('post', '/api/auth/link/{provider}', { params })
    },
    onSuccess: ({ url }) => location.assign(url),
    onError: showProblem,
  })
  return (
    <Button icon="plus" busy={link.isPending} onClick={() => link.mutate()}>
      <Trans>Link {name}</Trans>
    </Button>
  )
}

function Unlink({
  identity,
  onClose,
}: {
  readonly identity: Shape<'Identity'>
  readonly onClose: () => void
}) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { issuer } = identity
  return (
    <Confirm
      title={<Trans>Unlink {issuer}?</Trans>}
      action={t`Unlink`}
      onConfirm={async () => {
        await change('delete', '/api/me/identities/{id}', { params: { path: { id: identity.id } } })
        await client.invalidateQueries({ queryKey: ['/api/me/identities'] })
      }}
      onClose={onClose}
    >
      <p>
        <Trans>You can no longer sign in by it. Your account and your keys stay.</Trans>
      </p>
    </Confirm>
  )
}

import type {
  Customer,
  GroupRole,
  OidcSettings,
  Organization,
} from '@eyrie/contract/management/index'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { ApiError } from '../api/api-request.ts'
import { callOperation, callTaggedOperation } from '../api/call-operation.ts'
import { capitalize } from '../ui/format.ts'
import { LoadFailure, Notice } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/router.tsx'
import { useSubmit } from '../ui/use-submit.ts'
import { ConnectedUsers } from './connected-users.tsx'
import { GroupRoles } from './group-roles.tsx'
import '../ui/controls.css'
import '../ui/form.css'

const CALLBACK_PATH = '/session/provider/callback'
const CHANGED =
  'somebody else has saved other settings since you opened this page, so yours were not saved. Note what you have entered, and reload the page'

/** The settings, and the organizations and customers to which the roles of groups can refer. */
interface PageData {
  settings: OidcSettings
  /** The entity tag of the settings. */
  etag: string
  organizations: Organization[]
  customers: Customer[]
}

/** The settings of the identity provider, for superadmins. */
export function IdentityProviderPage() {
  const loaded = useSignal<PageData | undefined>(undefined)
  const error = useSignal('')
  usePageTitle('Identity provider')
  useEffect(() => {
    loadPageData().then(
      value => {
        loaded.value = value
      },
      failure => {
        error.value = capitalize((failure as Error).message)
      },
    )
  }, [])

  if (error.value) return <LoadFailure reason={error.value} />
  if (!loaded.value) return <Notice title="Loading…" />
  return (
    <div class="forms controls">
      <h1>Identity provider</h1>
      <SettingsForm {...loaded.value} />
      <ConnectedUsers />
    </div>
  )
}

async function loadPageData(): Promise<PageData> {
  const { value: settings, etag } = await callTaggedOperation<OidcSettings>('/config/oidc')
  const organizations = await callOperation<Organization[]>('/organization/list')
  const customers = await Promise.all(
    organizations.map(({ organization_id }) =>
      callOperation<Customer[]>(
        `/customer/list?organization_id=${organization_id}&is_default=true`,
      ),
    ),
  )
  return withoutDeleted({ settings, etag, organizations, customers: customers.flat() })
}

/**
 * Removes organizations and customers that were deleted since they were assigned to a group: the
 * server would reject settings that contain them.
 */
function withoutDeleted({ settings, organizations, customers, ...rest }: PageData): PageData {
  const organizationIds = organizations.map(({ organization_id }) => organization_id)
  const customerIds = customers.map(({ customer_id }) => customer_id)
  const oidcGroupRoles = settings.oidc_group_roles.map(entry => ({
    ...entry,
    organization_id: organizationIds.find(id => id === entry.organization_id) ?? null,
    customer_ids: entry.customer_ids.filter(id => customerIds.includes(id)),
  }))
  const validSettings = { ...settings, oidc_group_roles: oidcGroupRoles }
  return { settings: validSettings, organizations, customers, ...rest }
}

/**
 * Saves the settings if the stored settings still have this entity tag. Returns the new tag. Throws
 * an error for the user.
 */
async function saveSettings(settings: OidcSettings, etag: string): Promise<string> {
  try {
    return (await callTaggedOperation('/config/oidc/update', settings, etag)).etag
  } catch (error) {
    throw (error as ApiError).status === 412 ? new Error(CHANGED, { cause: error }) : error
  }
}

function SettingsForm({ settings, etag, organizations, customers }: PageData) {
  const currentEtag = useRef(etag)
  const groupRoles = useSignal<GroupRole[]>(settings.oidc_group_roles)
  const isSaved = useSignal(false)
  const hideSaved = () => {
    isSaved.value = false
  }
  const { error, isSubmitting, onSubmit } = useSubmit(async fields => {
    hideSaved()
    const text = (name: keyof OidcSettings) => String(fields.get(name)).trim()
    const isOn = (name: keyof OidcSettings) => fields.get(name) !== null
    const edited: OidcSettings = {
      oidc_enabled: isOn('oidc_enabled'),
      oidc_name: text('oidc_name'),
      oidc_issuer: text('oidc_issuer'),
      oidc_client_id: text('oidc_client_id'),
      oidc_client_secret: text('oidc_client_secret'),
      oidc_scopes: text('oidc_scopes'),
      oidc_groups_claim: text('oidc_groups_claim'),
      oidc_creates_users: isOn('oidc_creates_users'),
      oidc_links_by_email: isOn('oidc_links_by_email'),
      oidc_console_url: text('oidc_console_url'),
      oidc_group_roles: groupRoles.value,
    }
    currentEtag.current = await saveSettings(edited, currentEtag.current)
    isSaved.value = true
  })

  return (
    <form onSubmit={onSubmit} onInput={hideSaved} autocomplete="off">
      <Switch name="oidc_enabled" label="Users can sign in with it" settings={settings} />
      <Field name="oidc_name" label="Name on the sign-in page" settings={settings} />
      <Field name="oidc_issuer" label="Issuer" placeholder="https://…" settings={settings} />
      <Field name="oidc_client_id" label="Client ID" settings={settings} />
      <SecretField name="oidc_client_secret" label="Client secret" settings={settings} />
      <Field
        name="oidc_console_url"
        label="Address of this console in browsers"
        placeholder={location.origin}
        settings={settings}
      />
      <p class="hint">
        Register this address at the provider, followed by <code>{CALLBACK_PATH}</code>, as the
        redirect URI.
      </p>
      <Field name="oidc_scopes" label="Scopes" settings={settings} />
      <Field name="oidc_groups_claim" label="Claim with the groups" settings={settings} />
      <Switch
        name="oidc_creates_users"
        label="The first sign-in creates the user"
        settings={settings}
      />
      <Switch
        name="oidc_links_by_email"
        label="The first sign-in takes over an existing user with the same verified e-mail address"
        settings={settings}
      />
      <GroupRoles groupRoles={groupRoles} organizations={organizations} customers={customers} />
      <p class="error" role="alert">
        {error.value}
      </p>
      {isSaved.value && <p role="status">Saved.</p>}
      <button type="submit" class="main" disabled={isSubmitting.value}>
        Save
      </button>
    </form>
  )
}

interface FieldProps {
  name: keyof OidcSettings
  label: string
  settings: OidcSettings
  placeholder?: string
}

const Field = ({ name, label, settings, placeholder }: FieldProps) => (
  <label>
    {label}
    <input name={name} placeholder={placeholder} defaultValue={String(settings[name])} />
  </label>
)

const SecretField = ({ name, label, settings }: Omit<FieldProps, 'placeholder'>) => (
  <label>
    {label}
    <input name={name} type="password" defaultValue={String(settings[name])} />
  </label>
)

const Switch = ({ name, label, settings }: Omit<FieldProps, 'placeholder'>) => (
  <label class="switch">
    <input name={name} type="checkbox" defaultChecked={settings[name] === true} />
    {label}
  </label>
)

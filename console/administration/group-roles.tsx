import type { Customer, GroupRole, Organization } from '@eyrie/contract/management/index'
import { ROLE_KEYS } from '@eyrie/contract/management/role'
import type { Signal } from '@preact/signals'

type RoleKey = GroupRole['role_key']

const NEW_GROUP_ROLE: GroupRole = {
  group: '',
  role_key: 'viewer',
  organization_id: null,
  customer_ids: [],
  site_ids: [],
}

/** The organizations and customers to which a role can be limited. */
interface RoleLimits {
  organizations: Organization[]
  customers: Customer[]
}

interface GroupRolesProps extends RoleLimits {
  groupRoles: Signal<GroupRole[]>
}

/** Edits the roles that members of groups at the identity provider receive. */
export function GroupRoles({ groupRoles, organizations, customers }: GroupRolesProps) {
  const add = () => {
    groupRoles.value = [...groupRoles.value, NEW_GROUP_ROLE]
  }
  const change = (changedIndex: number, changes: Partial<GroupRole>) => {
    groupRoles.value = groupRoles.value.map((groupRole, index) =>
      index === changedIndex ? { ...groupRole, ...changes } : groupRole,
    )
  }
  const remove = (removedIndex: number) => {
    groupRoles.value = groupRoles.value.toSpliced(removedIndex, 1)
  }

  return (
    <>
      <h2>Roles of groups</h2>
      {groupRoles.value.map((groupRole, index) => (
        // The index is a sufficient key, because every field displays a value from `groupRole`.
        <fieldset key={index} aria-label={`Group ${index + 1}`}>
          <GroupRoleFields
            groupRole={groupRole}
            organizations={organizations}
            customers={customers}
            onChange={changes => change(index, changes)}
          />
          <button type="button" onClick={() => remove(index)}>
            Remove
          </button>
        </fieldset>
      ))}
      <button type="button" onClick={add}>
        Add a group
      </button>
      <p class="hint">Roles for single sites, which only the API can set, are kept.</p>
    </>
  )
}

interface GroupRoleFieldsProps extends RoleLimits {
  groupRole: GroupRole
  onChange(changes: Partial<GroupRole>): void
}

function GroupRoleFields({ groupRole, organizations, customers, onChange }: GroupRoleFieldsProps) {
  return (
    <>
      <label>
        Group
        <input
          value={groupRole.group}
          required
          onInput={event => onChange({ group: event.currentTarget.value })}
        />
      </label>
      <RoleSelect
        selected={groupRole.role_key}
        onSelect={roleKey => onChange({ role_key: roleKey })}
      />
      <OrganizationSelect
        organizations={organizations}
        selectedId={groupRole.organization_id}
        onSelect={organizationId => onChange({ organization_id: organizationId })}
      />
      <CustomerSelect
        customers={customers}
        selectedIds={groupRole.customer_ids}
        onSelect={customerIds => onChange({ customer_ids: customerIds })}
      />
    </>
  )
}

interface RoleSelectProps {
  selected: RoleKey
  onSelect(roleKey: RoleKey): void
}

const RoleSelect = ({ selected, onSelect }: RoleSelectProps) => (
  <label>
    Role
    <select value={selected} onChange={event => onSelect(event.currentTarget.value as RoleKey)}>
      {ROLE_KEYS.map(roleKey => (
        <option key={roleKey} value={roleKey}>
          {roleKey}
        </option>
      ))}
    </select>
  </label>
)

interface OrganizationSelectProps {
  organizations: Organization[]
  /** Null if the role is not limited to an organization. */
  selectedId: string | null
  onSelect(organizationId: string | null): void
}

const OrganizationSelect = ({ organizations, selectedId, onSelect }: OrganizationSelectProps) => (
  <label>
    Organization
    <select
      value={selectedId ?? ''}
      onChange={event => onSelect(event.currentTarget.value || null)}
    >
      <option value="">none</option>
      {organizations.map(({ organization_id, organization_name }) => (
        <option key={organization_id} value={organization_id}>
          {organization_name}
        </option>
      ))}
    </select>
  </label>
)

interface CustomerSelectProps {
  customers: Customer[]
  selectedIds: string[]
  onSelect(customerIds: string[]): void
}

const CustomerSelect = ({ customers, selectedIds, onSelect }: CustomerSelectProps) => (
  <label>
    Customers
    <select
      multiple
      onChange={event => {
        const options = [...event.currentTarget.selectedOptions]
        onSelect(options.map(({ value }) => value))
      }}
    >
      {customers.map(({ customer_id, customer_name }) => (
        <option key={customer_id} value={customer_id} selected={selectedIds.includes(customer_id)}>
          {customer_name}
        </option>
      ))}
    </select>
  </label>
)

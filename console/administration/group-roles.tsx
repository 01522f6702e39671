import type { Customer, GroupRole, Organization } from '@eyrie/contract/management/index'
import type { Signal } from '@preact/signals'

const ROLE_KEYS: GroupRole['role_key'][] = ['superadmin', 'admin', 'manager', 'viewer']

const NEW_GROUP_ROLE: GroupRole = {
  group: '',
  role_key: 'viewer',
  organization_id: null,
  customer_ids: [],
  site_ids: [],
}

interface GroupRolesProps {
  groupRoles: Signal<GroupRole[]>
  organizations: Organization[]
  customers: Customer[]
}

/** Edits the roles that members of groups at the identity provider receive. */
export function GroupRoles({ groupRoles, organizations, customers }: GroupRolesProps) {
  const change = (index: number, changes: Partial<GroupRole>) => {
    groupRoles.value = groupRoles.value.with(index, { ...groupRoles.value[index]!, ...changes })
  }
  const remove = (index: number) => {
    groupRoles.value = groupRoles.value.toSpliced(index, 1)
  }
  const add = () => {
    groupRoles.value = [...groupRoles.value, NEW_GROUP_ROLE]
  }

  return (
    <>
      <h2>Roles of groups</h2>
      {groupRoles.value.map((groupRole, index) => (
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

interface GroupRoleFieldsProps {
  groupRole: GroupRole
  organizations: Organization[]
  customers: Customer[]
  onChange(changes: Partial<GroupRole>): void
}

function GroupRoleFields({ groupRole, organizations, customers, onChange }: GroupRoleFieldsProps) {
  const {
    group,
    role_key: roleKey,
    organization_id: organizationId,
    customer_ids: customerIds,
  } = groupRole
  return (
    <>
      <label>
        Group
        <input
          value={group}
          required
          onInput={event => onChange({ group: event.currentTarget.value })}
        />
      </label>
      <label>
        Role
        <select
          value={roleKey}
          onChange={event =>
            onChange({ role_key: event.currentTarget.value as GroupRole['role_key'] })
          }
        >
          {ROLE_KEYS.map(role => (
            <option key={role} value={role}>
              {role}
            </option>
          ))}
        </select>
      </label>
      <label>
        Organization
        <select
          value={organizationId ?? ''}
          onChange={event => onChange({ organization_id: event.currentTarget.value || null })}
        >
          <option value="">none</option>
          {organizations.map(organization => (
            <option key={organization.organization_id} value={organization.organization_id}>
              {organization.organization_name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Customers
        <select
          multiple
          onChange={event => {
            const selected = [...event.currentTarget.selectedOptions]
            onChange({ customer_ids: selected.map(({ value }) => value) })
          }}
        >
          {customers.map(({ customer_id: customerId, customer_name: customerName }) => (
            <option key={customerId} value={customerId} selected={customerIds.includes(customerId)}>
              {customerName}
            </option>
          ))}
        </select>
      </label>
    </>
  )
}

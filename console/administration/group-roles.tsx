import type { Customer, GroupRole, Organization } from '@eyrie/contract/management/index'
import type { Signal } from '@preact/signals'

const ROLE_KEYS: GroupRole['role_key'][] = ['superadmin', 'admin', 'manager', 'viewer']

interface GroupRolesProps {
  groupRoles: Signal<GroupRole[]>
  organizations: Organization[]
  customers: Customer[]
}

/** The roles of the groups at the identity provider. */
export function GroupRoles({ groupRoles, organizations, customers }: GroupRolesProps) {
  const change = (index: number, changes: Partial<GroupRole>) => {
    groupRoles.value = groupRoles.value.map((entry, n) => (n === index ? { ...entry, ...changes } : entry))
  }
  const remove = (index: number) => {
    groupRoles.value = groupRoles.value.filter((_, n) => n !== index)
  }
  const add = () => {
    const entry: GroupRole = {
      group: '',
      role_key: 'viewer',
      organization_id: null,
      customer_ids: [],
      site_ids: [],
    }
    groupRoles.value = [...groupRoles.value, entry]
  }

  return (
    <>
      <h2>Roles of groups</h2>
      {groupRoles.value.map((entry, index) => (
        <fieldset key={index} aria-label={`Group ${index + 1}`}>
          <label>
            Group
            <input
              value={entry.group}
              required
              onInput={event => change(index, { group: event.currentTarget.value })}
            />
          </label>
          <label>
            Role
            <select
              value={entry.role_key}
              onChange={event => change(index, { role_key: ROLE_KEYS[event.currentTarget.selectedIndex]! })}
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
              value={entry.organization_id ?? ''}
              onChange={event => change(index, { organization_id: event.currentTarget.value || null })}
            >
              <option value="">none</option>
              {organizations.map(({ organization_id, organization_name }) => (
                <option key={organization_id} value={organization_id}>
                  {organization_name}
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
                change(index, { customer_ids: selected.map(({ value }) => value) })
              }}
            >
              {customers.map(({ customer_id, customer_name }) => (
                <option
                  key={customer_id}
                  value={customer_id}
                  selected={entry.customer_ids.includes(customer_id)}
                >
                  {customer_name}
                </option>
              ))}
            </select>
          </label>
          <button type="button" onClick={() => remove(index)}>
            Remove
          </button>
        </fieldset>
      ))}
      <button type="button" onClick={add}>
        Add a group
      </button>
      <p class="hint">The API can assign single sites to a group. They are kept here.</p>
    </>
  )
}

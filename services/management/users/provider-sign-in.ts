import { EyrieError } from '@eyrie/contract'
import type { OidcSettings } from '@eyrie/contract/management/index'
import { and, eq, inArray, notInArray, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import {
  customer,
  organization,
  role,
  site,
  user,
  userCustomer,
  userSite,
} from '../db/schema/index.ts'
import { admitUser, assertMaySignIn, lockUser } from './admit-user.ts'
import type { ProviderAccount } from './oidc/authorization.ts'
import { findGroupRights, type GroupRights } from './oidc/group-roles.ts'
import { connectIdentity, findIdentityOwner, hasIdentity } from './oidc/identities.ts'
import { toUserName } from './register-user.ts'
import { revokeCredentials } from './revoke-credentials.ts'
import type { SessionClient, StartedSession } from './sessions.ts'
import { matchesEmail } from './sign-in.ts'
import { assertNotLastSuperadmin } from './user-authority.ts'
import { describeUser } from './user-queries.ts'

const OPERATION = 'sign-in with the identity provider'
/** The `password_hash` of a user without a password. */
const NO_PASSWORD = ''

interface ProviderSignIn {
  settings: OidcSettings
  /** The account with which the user has signed in at the provider. */
  account: ProviderAccount
  client: SessionClient
  now: Date
}

/**
 * Signs in the user of an account at the identity provider. The groups of the account determine the
 * rights of the user. If no group has a role, the user loses all rights. If the settings allow it,
 * the first sign-in creates the user, or connects an existing user with the same e-mail address.
 * Throws `EyrieError` (`rights`) with a reason for the user.
 */
export async function signInWithProvider(
  database: Database,
  { settings, account, client, now }: ProviderSignIn,
): Promise<StartedSession> {
  const rights = findGroupRights(account.groups, settings.oidc_group_roles)
  const started = await database.system(OPERATION, async tx => {
    // Two first sign-ins at the same moment must not create two users.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('eyrie identity'))`)
    const knownUserId = await findIdentityOwner(tx, account)
    if (!rights) {
      // The error is thrown after the transaction, so that this is committed: existing sessions
      // lose their rights too.
      if (knownUserId) await withdrawRights(tx, knownUserId, now)
      return undefined
    }

    const userId = knownUserId ?? (await connectAccount(tx, { settings, account, now }))
    // The user exists: an identity is deleted with its user.
    const current = await lockUser(tx, userId)
    assertMaySignIn(current!)
    await writeRights(tx, userId, rights)
    return admitUser(tx, userId, client, now)
  })
  if (started) return started
  throw new EyrieError(
    'rights',
    `none of your groups at ${settings.oidc_name} has a role on this appliance: ask an administrator`,
  )
}

/**
 * Connects the account with a user of the same e-mail address, or with a new one.
 * Returns the id of the user.
 */
async function connectAccount(
  tx: Transaction,
  { settings, account, now }: Omit<ProviderSignIn, 'client'>,
): Promise<string> {
  const { email } = account
  if (email === undefined) {
    throw new EyrieError(
      'rights',
      `${settings.oidc_name} has not verified your e-mail address: verify it there first`,
    )
  }

  const [existing] = await tx.select().from(user).where(matchesEmail(email))
  if (!existing && !settings.oidc_creates_users) {
    throw new EyrieError(
      'rights',
      `there is no user for ${email} on this appliance: ask an administrator`,
    )
  }
  const mayLink =
    !existing ||
    (settings.oidc_links_by_email && !(await hasIdentity(tx, existing.user_id, account.issuer)))
  if (!mayLink) {
    throw new EyrieError(
      'rights',
      `the user ${email} exists already and is not connected with this account: ask an administrator`,
    )
  }

  // Another person may know the password of the existing user, and may be signed in with it.
  if (existing) await revokeCredentials(tx, { user_id: existing.user_id, now })
  const userId = existing?.user_id ?? (await insertUser(tx, email, account))
  await connectIdentity(tx, userId, account)
  return userId
}

/** Creates a user without a password, and returns the id. */
async function insertUser(
  tx: Transaction,
  email: string,
  { first_name, last_name }: ProviderAccount,
): Promise<string> {
  const userName = toUserName({ email, first_name, last_name })
  const values = { email, first_name, last_name, user_name: userName }
  const rows = await tx
    .insert(user)
    .values({ ...values, is_verified: true, password_hash: NO_PASSWORD })
    .returning({ user_id: user.user_id })
  return firstRow(rows).user_id
}

/**
 * Replaces the role, the organization, the customers and the sites of the user by
 * those of the groups.
 */
async function writeRights(tx: Transaction, userId: string, rights: GroupRights): Promise<void> {
  const target = await describeUser(tx, userId)
  if (target.role_key !== rights.role_key) await assertNotLastSuperadmin(tx, target)

  const assignedRole = firstRow(
    await tx.select().from(role).where(eq(role.role_key, rights.role_key)),
  )
  // The organization, the customers and the sites may have been deleted since the groups
  // were mapped to them.
  const [existing] = rights.organization_id
    ? await tx
        .select()
        .from(organization)
        .where(eq(organization.organization_id, rights.organization_id))
    : []
  if (rights.organization_id && !existing) {
    throw new EyrieError(
      'rights',
      'the organization of your groups does not exist: ask an administrator',
    )
  }
  await tx
    .update(user)
    .set({ role_id: assignedRole.role_id, organization_id: existing?.organization_id ?? null })
    .where(eq(user.user_id, userId))

  const customers = await tx
    .select({ customer_id: customer.customer_id })
    .from(customer)
    .where(inArray(customer.customer_id, rights.customer_ids))
  const sites = await tx
    .select({ site_id: site.site_id })
    .from(site)
    .where(inArray(site.site_id, rights.site_ids))
  await replaceAssignments(tx, userId, {
    customer_ids: customers.map(({ customer_id }) => customer_id),
    site_ids: sites.map(({ site_id }) => site_id),
  })
}

/**
 * Removes all rights of a user, also those of sessions and API tokens. The last
 * superadmin keeps them.
 */
async function withdrawRights(tx: Transaction, userId: string, now: Date): Promise<void> {
  await assertNotLastSuperadmin(tx, await describeUser(tx, userId))
  await tx
    .update(user)
    .set({ role_id: null, organization_id: null })
    .where(eq(user.user_id, userId))
  await replaceAssignments(tx, userId, { customer_ids: [], site_ids: [] })
  await revokeCredentials(tx, { user_id: userId, now })
}

/**
 * Replaces the customers and sites of a user. Writes only the differences, because the audit log
 * records each written row.
 */
async function replaceAssignments(
  tx: Transaction,
  userId: string,
  { customer_ids: customerIds, site_ids: siteIds }: Pick<GroupRights, 'customer_ids' | 'site_ids'>,
): Promise<void> {
  await tx
    .delete(userCustomer)
    .where(and(eq(userCustomer.user_id, userId), notInArray(userCustomer.customer_id, customerIds)))
  await tx
    .delete(userSite)
    .where(and(eq(userSite.user_id, userId), notInArray(userSite.site_id, siteIds)))
  if (customerIds.length > 0) {
    await tx
      .insert(userCustomer)
      .values(customerIds.map(customerId => ({ user_id: userId, customer_id: customerId })))
      .onConflictDoNothing()
  }
  if (siteIds.length > 0) {
    await tx
      .insert(userSite)
      .values(siteIds.map(siteId => ({ user_id: userId, site_id: siteId })))
      .onConflictDoNothing()
  }
}

import type { AuditEntry, User } from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { instant, key, madeAt, optionalText } from './columns.ts'
import { channel, usecase } from './device.ts'
import { customer, organization, site } from './hierarchy.ts'

export const role = pgTable(
  'role',
  {
    role_id: key().primaryKey(),
    role_key: text().notNull().unique(),
    role_name: text().notNull(),
  },
  table => [check('role_key_values', sql`${table.role_key} in ('superadmin', 'admin', 'manager', 'viewer')`)],
)

export const user = pgTable(
  'user',
  {
    user_id: key().primaryKey(),
    email: text().notNull(),
    first_name: text().notNull(),
    last_name: text().notNull(),
    user_name: text().notNull(),
    avatar: optionalText(),
    /** Null until an administrator gives one. */
    role_id: uuid().references(() => role.role_id),
    /** What was asked for at registration; it grants nothing. */
    role_wish: optionalText(),
    /** Whose administrator the user is, and who may administer the user. */
    organization_id: uuid().references(() => organization.organization_id),
    is_active: boolean().notNull().default(true),
    is_verified: boolean().notNull().default(false),
    /** Argon2id, in its encoded form. */
    password_hash: text().notNull(),
    ui_config: jsonb().$type<User['ui_config']>().notNull().default({}),
    last_logged_in_at: instant(),
    created_at: madeAt(),
  },
  table => [uniqueIndex('user_email').on(sql`lower(${table.email})`)],
)

const ofUser = () =>
  uuid()
    .notNull()
    .references(() => user.user_id, { onDelete: 'cascade' })

export const userCustomer = pgTable(
  'user_customer',
  {
    user_id: ofUser(),
    customer_id: uuid()
      .notNull()
      .references(() => customer.customer_id, { onDelete: 'cascade' }),
  },
  table => [primaryKey({ columns: [table.user_id, table.customer_id] })],
)

export const userSite = pgTable(
  'user_site',
  {
    user_id: ofUser(),
    site_id: uuid()
      .notNull()
      .references(() => site.site_id, { onDelete: 'cascade' }),
  },
  table => [primaryKey({ columns: [table.user_id, table.site_id] })],
)

/** Channels that a user sees whether or not their site is assigned. */
export const userChannel = pgTable(
  'user_channel',
  {
    user_id: ofUser(),
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id, { onDelete: 'cascade' }),
  },
  table => [primaryKey({ columns: [table.user_id, table.channel_id] })],
)

/** Where there are any, a user sees channels of these usecases alone. */
export const userUsecase = pgTable(
  'user_usecase',
  {
    user_id: ofUser(),
    usecase_id: uuid()
      .notNull()
      .references(() => usecase.usecase_id, { onDelete: 'cascade' }),
  },
  table => [primaryKey({ columns: [table.user_id, table.usecase_id] })],
)

/** A sign-in that lasts by refresh tokens, each of which is good for one use. */
export const session = pgTable(
  'session',
  {
    session_id: key().primaryKey(),
    user_id: ofUser(),
    /** SHA-256 of the half that all refresh tokens of the session share, and of the half that is good now. */
    family_hash: text().notNull().unique(),
    refresh_hash: text().notNull(),
    address: optionalText(),
    user_agent: optionalText(),
    created_at: madeAt(),
    used_at: madeAt(),
    expires_at: instant().notNull(),
    revoked_at: instant(),
  },
  table => [index('session_by_user').on(table.user_id)],
)

/** A token for programs: at most its user's rights, narrowed by its scopes. */
export const apiToken = pgTable(
  'api_token',
  {
    token_id: key().primaryKey(),
    user_id: ofUser(),
    name: text().notNull(),
    scopes: text().array().notNull(),
    secret_hash: text().notNull().unique(),
    created_at: madeAt(),
    used_at: instant(),
    expires_at: instant(),
  },
  table => [index('api_token_by_user').on(table.user_id)],
)

/** Sign-ins that failed, by account and by address, until one succeeds. */
export const signInFailure = pgTable('sign_in_failure', {
  /** `account:<email>` or `address:<ip>`. */
  subject: text().primaryKey(),
  failures: integer().notNull(),
  last_at: instant().notNull(),
  blocked_until: instant(),
})

/** Written by triggers alone. */
export const audit = pgTable(
  'audit',
  {
    audit_id: key().primaryKey().default(sql`gen_random_uuid()`),
    time: madeAt(),
    /** Null: the appliance itself. No foreign key: the log outlives the user. */
    user_id: uuid(),
    actor: optionalText(),
    operation: optionalText(),
    record: text().notNull(),
    record_id: text().notNull(),
    change: text().$type<AuditEntry['change']>().notNull(),
    before: jsonb().$type<AuditEntry['before']>(),
    after: jsonb().$type<AuditEntry['after']>(),
    organization_id: uuid(),
  },
  table => [
    index('audit_by_time').on(table.time),
    index('audit_by_record').on(table.record, table.record_id),
    check('audit_change_values', sql`${table.change} in ('create', 'update', 'delete')`),
  ],
)

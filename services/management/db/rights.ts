/**
 * Who sees and who changes which rows: the one place where rights over records are decided. Row-level-security policies
 * are made of it at every start (`migrate.ts`), so that no query and no route can miss them. What a role may do at all
 * is decided before, by the route's `access`.
 *
 * The transaction's settings say who asks (`open.ts`): `eyrie.scope` is `all` for the superadmin and for the appliance
 * itself; `eyrie.organizations` are those that the caller administers, `eyrie.memberships` those in which anything is
 * assigned to the caller; `eyrie.customers`, `eyrie.sites`, `eyrie.channels`, `eyrie.usecases` are what is assigned.
 * A subquery sees what the caller sees of its table.
 */
export interface Rule {
  visible: string
  /** Where it is not the same. */
  changeable?: string
  /** Where rows are made by others than those who change them. */
  made?: string
}

const setting = (name: string) => `(select nullif(current_setting('eyrie.${name}', true), ''))::uuid[]`
const among = (column: string, name: string) => `${column} = any (${setting(name)})`
const self = (column = 'user_id') =>
  `${column} = (select nullif(current_setting('eyrie.user', true), ''))::uuid`

const seen = (table: string, key: string, of: string) =>
  `exists (select from ${table} t where t.${key} = ${of}.${key})`

/** Everything that is assigned to the user lies in organizations that the caller administers. */
const administers = 'administers(user_id)'

/** The same, found out once for however many rows. */
const onSeenChannel = 'channel_id in (select t.channel_id from channel t)'

/** None is assigned to the caller, whose they then all are. */
const everyUsecase = `cardinality(coalesce(${setting('usecases')}, '{}')) = 0`

/** From the sites: these are few, where an engine may read thousands of devices that are others'. */
const readsForSeenSite =
  'exists (select from site t join device d using (site_id) where d.engine_id = engine.engine_id)'

const nobody = 'false'
const everybody = 'true'

/** In addition to `eyrie.scope` = `all`, which sees and changes everything. */
export const rights: Record<string, Rule> = {
  organization: {
    visible: among('organization_id', 'memberships'),
    changeable: among('organization_id', 'organizations'),
  },
  customer: {
    visible: `${among('organization_id', 'organizations')} or ${among('customer_id', 'customers')}
      or exists (select from site t where t.customer_id = customer.customer_id and ${among('t.site_id', 'sites')})`,
    changeable: `${among('organization_id', 'organizations')} or ${among('customer_id', 'customers')}`,
  },
  site: {
    visible: `${among('organization_id', 'organizations')} or ${among('customer_id', 'customers')}
      or ${among('site_id', 'sites')}`,
  },

  engine: {
    visible: `${among('organization_id', 'organizations')}
      or ${seen('engine_site', 'engine_id', 'engine')} or ${readsForSeenSite}`,
    changeable: among('organization_id', 'organizations'),
  },
  engine_site: { visible: seen('site', 'site_id', 'engine_site') },
  engine_state: { visible: 'sees_engine(engine_id)', changeable: nobody },
  engine_statistics: { visible: seen('engine', 'engine_id', 'engine_statistics'), changeable: nobody },
  provision: { visible: nobody },

  device: { visible: seen('site', 'site_id', 'device') },
  device_stream: { visible: seen('device', 'device_id', 'device_stream') },
  source: { visible: seen('site', 'site_id', 'source') },
  static_content: { visible: seen('source', 'source_id', 'static_content') },
  usecase: {
    visible: `${everyUsecase} or ${among('usecase_id', 'usecases')} or exists (select from channel t
      where t.usecase_id = usecase.usecase_id and ${among('t.channel_id', 'channels')})`,
    changeable: nobody,
  },
  pipeline: {
    visible: `${seen('engine', 'engine_id', 'pipeline')}
      and (organization_id is null or ${among('organization_id', 'memberships')})`,
  },
  channel: {
    visible: `${among('channel_id', 'channels')} or (${seen('site', 'site_id', 'channel')}
      and (${everyUsecase} or ${among('usecase_id', 'usecases')}))`,
    changeable: seen('site', 'site_id', 'channel'),
  },
  channel_state: { visible: seen('channel', 'channel_id', 'channel_state'), changeable: nobody },

  alert: { visible: seen('channel', 'channel_id', 'alert') },
  alert_state: { visible: seen('alert', 'alert_id', 'alert_state') },
  schedule: { visible: seen('channel', 'channel_id', 'schedule') },
  notification: { visible: onSeenChannel, changeable: nobody },
  event: { visible: onSeenChannel, changeable: nobody },
  statistic_minute: { visible: onSeenChannel, changeable: nobody },
  channel_counter: { visible: nobody },
  picture: { visible: nobody },

  role: { visible: everybody, changeable: nobody },
  user: {
    visible: `${self()} or ${among('organization_id', 'organizations')}
      or exists (select from user_customer t join customer c using (customer_id)
        where t.user_id = "user".user_id and ${among('c.organization_id', 'organizations')})
      or exists (select from user_site t join site s using (site_id)
        where t.user_id = "user".user_id and ${among('s.organization_id', 'organizations')})`,
    changeable: `${self()} or ${administers}`,
    made: among('organization_id', 'organizations'),
  },
  user_customer: {
    visible: `${self()} or ${seen('customer', 'customer_id', 'user_customer')}`,
    changeable: `${seen('customer', 'customer_id', 'user_customer')} and ${administers}`,
  },
  user_site: {
    visible: `${self()} or ${seen('site', 'site_id', 'user_site')}`,
    changeable: `${seen('site', 'site_id', 'user_site')} and ${administers}`,
  },
  user_channel: {
    visible: `${self()} or ${seen('channel', 'channel_id', 'user_channel')}`,
    changeable: `${seen('channel', 'channel_id', 'user_channel')} and ${administers}`,
  },
  user_usecase: {
    visible: `${self()} or ${seen('"user"', 'user_id', 'user_usecase')}`,
    changeable: administers,
  },
  session: { visible: `${self()} or ${administers}` },
  api_token: { visible: `${self()} or ${administers}` },
  sign_in_failure: { visible: nobody },
  audit: {
    visible: among('organization_id', 'organizations'),
    changeable: nobody,
    made: 'pg_trigger_depth() > 0',
  },

  ui_module: { visible: everybody, changeable: nobody },
  ui_component: { visible: everybody, changeable: nobody },
  setting: { visible: `(select current_setting('eyrie.role', true)) = 'admin'`, changeable: nobody },
  image: { visible: `organization_id is null or ${among('organization_id', 'memberships')}` },
}

/**
 * `sees_engine` asks no more than a subquery would, but the much that it takes to see an engine is prepared for only where
 * it has to be asked: every lookup of a device would pay for it, whoever looks.
 *
 * What `administers` asks no subquery could answer, since it would see only what the caller sees. Of users,
 * an admin changes those who have nothing outside of what the admin administers: whoever could set the password of one
 * who has would get in there.
 */
export const questions = `
  create or replace function sees_engine(asked uuid) returns boolean language plpgsql stable as $$
  begin
    return exists (select from engine where engine_id = asked);
  end
  $$;

  create or replace function administers(person uuid) returns boolean language plpgsql stable as $$
  declare
    scope text := current_setting('eyrie.scope', true);
    answer boolean;
  begin
    if cardinality(coalesce(${setting('organizations')}, '{}')) = 0 then
      return false;
    end if;
    perform set_config('eyrie.scope', 'all', true);
    select coalesce(bool_and(organization_id = any (${setting('organizations')})), false) into answer from (
      select organization_id from "user" where user_id = person and organization_id is not null
      union select organization_id from user_customer join customer using (customer_id) where user_id = person
      union select organization_id from user_site join site using (site_id) where user_id = person
      union select organization_id from user_channel join channel using (channel_id) join site using (site_id)
        where user_id = person
    ) as reached;
    answer := answer and not exists (
      select from "user" join role using (role_id) where user_id = person and role_key = 'superadmin');
    perform set_config('eyrie.scope', coalesce(scope, ''), true);
    return answer;
  end
  $$;`

/** Tables of which every change is written to `audit`, and their columns that are not shown there. */
export const audited: Record<string, readonly string[]> = {
  organization: [],
  customer: [],
  site: [],
  engine: ['engine_key'],
  engine_site: [],
  device: [],
  device_stream: ['password'],
  source: [],
  static_content: [],
  pipeline: [],
  channel: [],
  alert: ['alert_actions'],
  schedule: [],
  user: ['password_hash'],
  user_customer: [],
  user_site: [],
  user_channel: [],
  user_usecase: [],
  api_token: ['secret_hash'],
  ui_module: [],
  setting: ['value'],
  image: [],
}

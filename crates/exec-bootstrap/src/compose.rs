//! The two compose files: one for development, one for production. Pure.

use crate::app::App;
use crate::header;
use crate::plan::Plan;
use crate::render::json;

const DEVELOPMENT: &str = r#"
# For working on the project: its sources are mounted at /workspace, and a change starts it again. Ports are open to
# this machine only. scripts/docker-start.sh starts it, scripts/docker-stop.sh stops it.

services:
  app:
    build:
      context: .
      dockerfile: Dockerfile.dev
      args:
        UID: "${APP_UID:-1000}"
        GID: "${APP_GID:-1000}"
    image: "${COMPOSE_PROJECT_NAME:-app}-dev"
    user: "${APP_UID:-1000}:${APP_GID:-1000}"
    init: true
    working_dir: /workspace
    command: @COMMAND@
    environment:
      PORT: "8080"
      LOG_LEVEL: debug
      DEBUG: "1"
    ports:
      - "127.0.0.1:${APP_PORT:-8080}:8080"
      - "127.0.0.1:${DEBUG_PORT:-@DEBUG_PORT@}:@DEBUG_PORT@"
    volumes:
      - .:/workspace
      - data:/app/data
      - ./config:/app/config:ro
    tmpfs:
      - /tmp:mode=1777
    healthcheck:
      test: @HEALTH@
      interval: 5s
      timeout: 3s
      retries: 3
      start_period: 120s
    cap_drop:
      - ALL
    security_opt:
      - no-new-privileges:true
    stop_grace_period: 10s

volumes:
  data:
"#;

const PRODUCTION: &str = r#"
# For production: the application as it was built, without its sources. Secrets are files, in /run/secrets.
# scripts/docker-start.sh prod starts it, scripts/docker-stop.sh stops it.

services:
  app:
    build:
      context: .
      dockerfile: Dockerfile
      args:
        UID: "${APP_UID:-1000}"
        GID: "${APP_GID:-1000}"
    image: "${COMPOSE_PROJECT_NAME:-app}"
    user: "${APP_UID:-1000}:${APP_GID:-1000}"
    init: true
    restart: unless-stopped
    read_only: true
    environment:
      PORT: "8080"
      LOG_LEVEL: info
      APP_SECRET_FILE: /run/secrets/app_secret
    ports:
      - "${APP_BIND:-127.0.0.1}:${APP_PORT:-8080}:8080"
    volumes:
      - workspace:/workspace
      - data:/app/data
      - ./config:/app/config:ro
    tmpfs:
      - /tmp:mode=1777,size=256m
    secrets:
      - app_secret
    healthcheck:
      test: @HEALTH@
      interval: 5s
      timeout: 3s
      retries: 3
      start_period: 30s
    mem_limit: "${APP_MEMORY:-1g}"
    cpus: ${APP_CPUS:-1.0}
    pids_limit: 512
    cap_drop:
      - ALL
    security_opt:
      - no-new-privileges:true
    stop_grace_period: 30s
    logging:
      driver: json-file
      options:
        max-size: 10m
        max-file: "3"

volumes:
  workspace:
  data:

secrets:
  app_secret:
    file: ./secrets/app_secret
"#;

/// Checks whether the port is open; bash needs no other program for it.
const HEALTH: [&str; 4] = ["CMD", "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080"];

/// Sources mounted, restarted on every change, ports for a debugger.
pub(crate) fn development(plan: &Plan, app: &App) -> String {
    let reload = ["sh", "scripts/docker-reload.sh"].map(str::to_owned);
    let command: Vec<String> = reload.into_iter().chain(app.develop.iter().cloned()).collect();
    let text = DEVELOPMENT.replace("@COMMAND@", &json(&command).replace('$', "$$"));
    filled(plan, &text.replace("@DEBUG_PORT@", &app.debug_port.to_string()))
}

/// Only the built application.
pub(crate) fn production(plan: &Plan) -> String {
    filled(plan, PRODUCTION)
}

fn filled(plan: &Plan, text: &str) -> String {
    header::lines(&plan.wishes).join("\n") + &text.replace("@HEALTH@", &json(&HEALTH.map(str::to_owned)))
}

# docker build -t kanopy .
# docker run --rm --read-only --tmpfs /tmp -v "$PWD:/projects" kanopy kanopy anonymize people.csv -q age,sex -k 5 -o release.csv
# docker run --rm --read-only --tmpfs /tmp -v kanopy:/projects -e KANOPY_APP_PASSWORD -p 127.0.0.1:8790:8790 kanopy
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY tools/hatch_build.py tools/hatch_build.py
COPY src src
COPY reproductions reproductions
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY constraints/pinned.txt /opt/kanopy/constraints.txt
COPY examples/publish_adult.py /opt/kanopy/publish_adult.py
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --compile --constraint /opt/kanopy/constraints.txt \
    "kanopy[app,cells,crypto,documents,duckdb,excel,pandas,postgres,sql,stats,utility] @ file://$(ls /wheels/*.whl)" \
    && rm -r /wheels \
    && useradd --uid 10001 --home-dir /projects --create-home kanopy
# The root may be read-only: what is kept is in the volume, what is not is in /tmp.
ENV XDG_CACHE_HOME=/tmp/cache NUMBA_CACHE_DIR=/tmp/numba PYTHONDONTWRITEBYTECODE=1 NICEGUI_STORAGE_PATH=/tmp/nicegui
VOLUME /projects
WORKDIR /projects
USER kanopy
EXPOSE 8790
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8790/login', timeout=4)"]
# The app asks for a password in KANOPY_APP_PASSWORD, because other machines can reach it. Any other command can stand here instead.
CMD ["kanopy", "app", "--host", "0.0.0.0", "--port", "8790", "--no-browser", "--project", "/projects/kanopy-project"]

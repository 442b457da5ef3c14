# docker build -t kanopy . && docker run --rm kanopy
# docker run --rm -v "$PWD:/data" -w /data kanopy kanopy anonymize people.csv -q age,sex -k 5 -o release.csv
FROM python:3.12-slim
WORKDIR /opt/kanopy
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY reproductions reproductions
COPY examples examples
RUN pip install --no-cache-dir ".[duckdb,excel,postgres,sql,stats]" && useradd --create-home kanopy
USER kanopy
WORKDIR /home/kanopy
# Without a command: the bundled Adult data becomes a release with its report.
CMD ["python", "/opt/kanopy/examples/publish_adult.py", "demo-output"]
